"""The functions that a query may use: those that only compute, each with how it is called and what it does.

Most are the engine's; those of `_CYPHER` are made into them by `graph.console.dialect`. What is not here is refused.
Left out on purpose: what reads files or sequences, changes settings, raises errors of its own, makes texts as long as
one likes (repeat, lpad, rpad), hangs (factorial, gamma), brings the engine down (uuid), or answers wrongly
(array_extract takes a list for its text).
"""

_AGGREGATES = """
avg(number) | the mean of all rows
collect(value) | a list of the values of all rows; null is left out
count(value) | how many rows have a value; count(*) counts all
max(value) | the largest of all rows
min(value) | the smallest of all rows
sum(number) | the sum of all rows
"""
_OF_GRAPHS = """
cost(path) | what a weighted shortest path costs
end_node(relationship) | the node it leads to
id(node) | the engine's own number of a node or relationship
is_acyclic(path) | whether no node comes twice
is_trail(path) | whether no relationship comes twice
keys(node) | the names of its properties
label(node) | its table: Turn, Observation …; of a relationship its name
labels(node) | the same as label
length(path) | how many relationships long it is
nodes(path) | the nodes of a path
offset(id) | the row in its table, of what id() gives
properties(nodes, name) | a property of each of the nodes of a path, as in properties(nodes(p), 'text')
relationships(path) | the relationships of a path
rels(path) | the same as relationships
start_node(relationship) | the node it comes from
"""
_OF_NUMBERS = """
abs(number) | without its sign
acos(number) | arc cosine, in radians
asin(number) | arc sine, in radians
atan(number) | arc tangent, in radians
atan2(y, x) | the angle of a point, in radians
bitshift_left(number, bits) | shifted left
bitshift_right(number, bits) | shifted right
bitwise_and(a, b) | the bits that both have
bitwise_or(a, b) | the bits that either has
bitwise_xor(a, b) | the bits that one of them has
cbrt(number) | the cube root
ceil(number) | rounded up
ceiling(number) | the same as ceil
cos(radians) | cosine
cot(radians) | cotangent
degrees(radians) | an angle in degrees
even(number) | rounded away from zero to an even number
floor(number) | rounded down
greatest(a, b) | the later of two times
least(a, b) | the earlier of two times
ln(number) | the natural logarithm
log(number) | the logarithm to 10
log10(number) | the logarithm to 10
log2(number) | the logarithm to 2
negate(number) | with the other sign
pi() | 3.14159 …
pow(base, exponent) | base to the power of exponent
radians(degrees) | an angle in radians
round(number, places) | rounded to so many places; to none without them
sign(number) | -1, 0 or 1
sin(radians) | sine
sqrt(number) | the square root
tan(radians) | tangent
"""
_OF_STRINGS = """
concat(text, …) | the texts one after the other
concat_ws(between, text, …) | the texts with something between them
contains(text, part) | whether the part is in it, the same as CONTAINS
ends_with(text, end) | whether it ends so
initcap(text) | the first letter large, the others small
lcase(text) | the same as lower
left(text, n) | its first n characters
levenshtein(a, b) | how many letters to change to make b of a
lower(text) | in small letters
ltrim(text) | without blanks at its beginning
md5(text) | its MD5 hash
prefix(text, start) | whether it starts so
regexp_extract(text, pattern) | the first part that fits; a third argument names the group
regexp_extract_all(text, pattern) | all parts that fit, as a list
regexp_full_match(text, pattern) | whether all of it fits, the same as =~
regexp_matches(text, pattern) | whether a part of it fits
regexp_replace(text, pattern, new) | the first part that fits replaced; all with a fourth argument 'g'
regexp_split_to_array(text, pattern) | cut where it fits, as a list; empty pieces are left out
reverse(text) | back to front
right(text, n) | its last n characters
rtrim(text) | without blanks at its end
sha256(text) | its SHA-256 hash
size(text) | how many characters, items of a list, or times a pattern is there
split_part(text, between, n) | the n-th part between these, from 1
starts_with(text, start) | whether it starts so
stem(word, language) | the stem of a word: stem('boats', 'english')
str_split(text, between) | the same as string_split
string(value) | the same as to_string
string_split(text, between) | cut at these, as a list
string_to_array(text, between) | the same as string_split
substr(text, from, n) | n characters from the one at from, counted from 1
substring(text, from, n) | n characters from the one at from, counted from 0; all without n
suffix(text, end) | whether it ends so
tolower(text) | the same as lower
toupper(text) | the same as upper
trim(text) | without blanks at both ends
ucase(text) | the same as upper
upper(text) | in large letters
"""
_OF_LISTS = """
array_contains(list, value) | the same as list_contains
array_distance(a, b) | the distance of two arrays of numbers
array_has(list, value) | the same as list_contains
array_slice(list, from, to) | the same as list_slice
cardinality(map) | how many entries a map or list has
element_at(map, key) | the same as map_extract
list_any_value(list) | its first value that is not null
list_append(list, value) | with a value at the end
list_cat(a, b) | the same as list_concat
list_concat(a, b) | one after the other
list_contains(list, value) | whether the value is in it
list_distinct(list) | each value once
list_element(list, n) | the same as list_extract
list_extract(list, n) | the n-th value, from 1; -1 is the last; list[n] is the same
list_filter(list, x -> …) | the values for which it is true
list_has(list, value) | the same as list_contains
list_has_all(list, values) | whether all the values are in it
list_indexof(list, value) | the same as list_position
list_position(list, value) | where the value is, from 1; 0 if it is not
list_prepend(list, value) | with a value in front
list_product(list) | its numbers multiplied
list_reduce(list, (x, y) -> …) | its values put together from left to right
list_reverse(list) | back to front
list_reverse_sort(list) | the largest first
list_slice(list, from, to) | the values from one place to another; list[from:to] is the same
list_sort(list) | the smallest first; 'DESC' as a second argument turns it around
list_sum(list) | its numbers added
list_to_string(between, list) | its values as a text with something between them
list_transform(list, x -> …) | what becomes of each value
list_unique(list) | how many different values it has
map(keys, values) | a map of two lists
map_extract(map, key) | the values of a key, as a list
map_keys(map) | its keys
map_values(map) | its values
range(from, to) | whole numbers from one to another; a third is the step
struct_extract(value, name) | one field, the same as value.name
struct_pack(name := value, …) | a value with fields, the same as {name: value}
"""
_OF_TIMES = """
century(time) | the number of the century
current_date() | today, in UTC
current_timestamp() | now, in UTC
date(text) | a day: date('2026-01-31'), date(t.at); today without one
date_part(part, time) | a part as a number: 'year', 'month', 'week', 'day', 'hour' …
date_trunc(part, time) | the beginning of its 'year', 'month', 'week', 'day', 'hour'
datepart(part, time) | the same as date_part
datetrunc(part, time) | the same as date_trunc
dayname(time) | Monday …
duration(text) | the same as interval
epoch_ms(number) | a time of UTC milliseconds: epoch_ms(t.at)
interval(text) | a span: interval('3 days'), to add to a time
last_day(time) | the last day of its month
make_date(year, month, day) | a day
monthname(time) | January …
timestamp(text) | a time: timestamp('2026-01-31 12:00:00')
to_days(n) | a span of n days
to_epoch_ms(time) | UTC milliseconds: to compare with t.at
to_hours(n) | a span of n hours
to_milliseconds(n) | a span of n milliseconds
to_minutes(n) | a span of n minutes
to_months(n) | a span of n months
to_seconds(n) | a span of n seconds
to_timestamp(seconds) | a time of UTC seconds
to_years(n) | a span of n years
"""
_CYPHER = """
datetime(text) | a time: datetime('2026-01-31T12:00:00'); now without one
day(time) | the day of the month
dayofweek(time) | the day of the week: Monday is 1
dayofyear(time) | the day of the year
elementid(node) | the same as id
head(list) | its first value
hour(time) | the hour
isempty(list) | whether there is nothing in it
last(list) | its last value
localdatetime(text) | the same as datetime
minute(time) | the minute
month(time) | the month as a number
quarter(time) | the quarter of the year
reduce(sum = 0, x IN list | …) | its values put together from left to right
replace(text, part, new) | with a part replaced wherever it is
second(time) | the second
split(text, between) | cut at these, as a list
tail(list) | all but its first value
toboolean(text) | true or false
tofloat(value) | as a number
toint(value) | the same as tointeger
tointeger(value) | as a whole number, what is behind the point left out
tostring(value) | as a text
type(relationship) | its name: REPLIES_TO, MENTIONS …
week(time) | the week of the year, as ISO 8601 counts
weekday(time) | the same as dayofweek
year(time) | the year
"""
_OTHERS = """
cast(value AS type) | the value as STRING, INT64, DOUBLE, DATE, TIMESTAMP …
coalesce(a, b, …) | the first that is not null
constant_or_null(a, b) | a, or null where b is
decode(bytes) | bytes as text
encode(text) | text as bytes
hash(value) | a number made of a value
ifnull(a, b) | a, or b where it is null
nullif(a, b) | a, or null where it is b
octet_length(bytes) | how many bytes
to_bool(text) | true or false
to_date(text) | the same as date
to_double(value) | as a number
to_float(value) | as a number of less precision
to_int128(value) | as a whole number of 128 bits
to_int16(value) | as a whole number of 16 bits
to_int32(value) | as a whole number of 32 bits
to_int64(value) | as a whole number
to_int8(value) | as a whole number of 8 bits
to_string(value) | as a text
typeof(value) | the name of its type
"""


def _told(lines: str) -> dict[str, tuple[str, str]]:
    """Name, and how it is called with what it does."""
    rows = (line.rsplit(" | ", 1) for line in lines.strip().splitlines())
    return {signature.partition("(")[0]: (signature, meaning) for signature, meaning in rows}


_ENGINE: dict[str, tuple[str, str]] = {
    **_told(_AGGREGATES),
    **_told(_OF_GRAPHS),
    **_told(_OF_NUMBERS),
    **_told(_OF_STRINGS),
    **_told(_OF_LISTS),
    **_told(_OF_TIMES),
    **_told(_OTHERS),
}
# By name, in small letters: the signature, and one line of what it does.
FUNCTION_HELP = _ENGINE | _told(_CYPHER)
FUNCTIONS = frozenset(_ENGINE)  # that may reach the engine
AGGREGATES = frozenset(_told(_AGGREGATES))
WITH_LAMBDAS = frozenset(("list_filter", "list_reduce", "list_transform"))  # elsewhere one brings the engine down
# So does a bare null, which has no type, in one of these.
NEVER_OF_NULL = (frozenset(_told(_OF_GRAPHS)) | frozenset(_told(_OF_LISTS))) - {"range"}

# What other dialects call it.
INSTEAD: dict[str, str] = {
    "apoc": "nothing of APOC is here",
    "count_if": "sum(CASE WHEN … THEN 1 ELSE 0 END)",
    "datetime": "datetime('2026-01-31T12:00:00')",
    "exists": "EXISTS { MATCH … }, or x IS NOT NULL",
    "now": "current_timestamp()",
    "rand": "hash(x.id)",
    "reduce": "reduce(sum = 0, x IN list | sum + x)",
    "repeat": "the text itself",
    "shortestpath": "MATCH p = (a)-[* SHORTEST 1..5]-(b)",
    "stdev": "sqrt(avg(x * x) - avg(x) * avg(x))",
}
