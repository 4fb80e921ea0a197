"""Reads as people write them, with what they find in the memory of `spoken`: six turns, something learned of them.

Every clause, keyword and function that may be used is in here; a test looks.
"""

from typing import Any

READS: dict[str, list[tuple[Any, ...]]] = {
    "MATCH (t:Turn) RETURN count(*)": [(6,)],
    "match (t:Turn) where t.live return count(t) as n;": [(6,)],
    "MATCH (t:Turn {id: 's0'}) RETURN t.text, t.`index`": [("s0", 0)],
    "MATCH (a:Turn)-[r:REPLIES_TO]->(b:Turn) RETURN a.id, b.id ORDER BY a.id LIMIT 1": [("s1", "s0")],
    "MATCH (a:Turn)<-[:REPLIES_TO]-(b) RETURN count(*)": [(5,)],
    "MATCH (a:Turn {id: 's5'})-[:REPLIES_TO*1..3]->(b:Turn) RETURN b.id ORDER BY b.id": [("s2",), ("s3",), ("s4",)],
    "MATCH p = (a:Turn {id: 's5'})-[:REPLIES_TO* SHORTEST 1..5]->(b:Turn {id: 's0'}) RETURN length(p)": [(5,)],
    "MATCH (a:Turn {id: 's5'})-[:REPLIES_TO* ALL SHORTEST 1..5]->(b:Turn {id: 's1'}) RETURN count(*)": [(1,)],
    "MATCH (a:Turn)-[r:REPLIES_TO*1..2 (e, n | WHERE n.live)]->(b:Turn {id: 's0'}) RETURN count(*)": [(2,)],
    "MATCH (t:Turn) OPTIONAL MATCH (o:Observation)-[:DERIVED_FROM]->(t) RETURN t.id, o.id ORDER BY t.id LIMIT 2":
        [("s0", "m"), ("s1", None)],
    "MATCH (t:Turn) WHERE EXISTS { MATCH (t)<-[:REPLIES_TO]-(u:Turn) WHERE u.live } RETURN count(*)": [(5,)],
    "MATCH (t:Turn {id: 's0'}) RETURN COUNT { MATCH (t)<-[:REPLIES_TO]-() } AS replies": [(1,)],
    "MATCH (t:Turn)-[:IN_SESSION]->(s:Session) RETURN s.id, count(t.role), collect(t.id)[1], max(t.at) > 0":
        [("s", 6, "s0", True)],
    "MATCH (t:Turn)-[:IN_SESSION]->(s:Session) RETURN s.id, count(DISTINCT t.role), max(DISTINCT t.`index`)":
        [("s", 2, 5)],
    "MATCH (t:Turn) WITH t.role AS role, count(*) AS count WHERE count > 2 RETURN role, count ORDER BY role DESC":
        [("user", 3), ("assistant", 3)],
    "UNWIND [3, 1, 2] AS x WITH x ORDER BY x DESC SKIP 1 RETURN collect(x)": [([2, 1],)],
    "UNWIND range(1, 3) AS x RETURN sum(x)": [(6,)],
    "RETURN CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END AS x, CASE 3 WHEN 3 THEN true END AS y": [("b", True)],
    "RETURN 1 AS x UNION ALL RETURN 1 AS x": [(1,), (1,)],
    "RETURN list_transform([1, 2], x -> x + 1), size([1, 2]), [1, 2, 3][2:3], {set: 1, `create`: 2}.set":
        [([2, 3], 2, [2, 3], 1)],
    "RETURN all(x IN [1, 2] WHERE x > 0), any(x IN [1] WHERE x > 3), none(x IN [1] WHERE x = 2)": [(True, False, True)],
    "RETURN upper('wren'), 'a' + 'b', substring('harbour', 0, 3), 'it\\'s', 'x' =~ '.', 'abc' STARTS WITH 'a'":
        [("WREN", "ab", "har", "it's", True, True)],
    "RETURN date('2026-01-31') + interval('1 day'), date_part('year', date('2026-01-31')), CAST(1 AS STRING)":
        [("2026-02-01", 2026, "1")],
    "RETURN CAST(2.5 AS DECIMAL(5, 2)), 7 % 4, 2 ^ 3, -1 * -2, 1.5e3, .5": [("2.50", 3, 8.0, 2, 1500.0, 0.5)],
    "MATCH (o:Observation) WHERE o.text CONTAINS \"\\\"Wren\\\"\" AND NOT o.text IS NULL RETURN o.id": [("m",)],
    "RETURN 'DELETE; // no comment' AS `SET`, \"MERGE /* */\" AS x": [("DELETE; // no comment", "MERGE /* */")],
    "// a comment with DELETE in it\nRETURN /* SET */ 1": [(1,)],
    "RETURN\u00a01\u2003AS\tx": [(1,)],
    "MATCH (project:Turn), (graph:Session) RETURN count(*)": [(6,)],
    "MATCH (a:Turn:Observation) RETURN label(a), count(*) ORDER BY label(a)": [("Observation", 1), ("Turn", 6)],
    "MATCH (a)-[r:REPLIES_TO|IN_SESSION]->(b) RETURN count(*)": [(11,)],
    "UNWIND [1, 2] AS x RETURN avg(x)": [(1.5,)],
    "UNWIND [2, 1, null] AS x RETURN collect(x)": [([2, 1],)],
    "UNWIND [2, null] AS x RETURN count(x), count(*)": [(1, 2)],
    "UNWIND [2, 1] AS x RETURN max(x), min(x), sum(x)": [(2, 1, 3)],
    "MATCH p = (a:Turn {id: 's2'})-[r:REPLIES_TO* SHORTEST 1..3]->(b:Turn {id: 's0'}) RETURN length(p), "
    "is_trail(p), is_acyclic(p)": [(2, True, True)],
    "MATCH p = (m:Observation)-[r:DERIVED_FROM* WSHORTEST(at)]->(t:Turn) RETURN cost(r) > 0, t.id": [(True, 's0')],
    "MATCH (a:Turn {id: 's1'})-[r:REPLIES_TO]->(b) RETURN start_node(r).id, end_node(r).id, label(r), labels(a)":
        [('s1', 's0', 'REPLIES_TO', 'Turn')],
    "MATCH (a:Turn {id: 's1'}) RETURN offset(id(a)), keys(a)[1]": [(1, 'id')],
    "MATCH p = (a:Turn {id: 's2'})-[:REPLIES_TO*2..2]->(b) RETURN properties(nodes(p), 'id') AS a, "
    "size(relationships(p)) AS b, size(rels(p)) AS c": [(['s2', 's1', 's0'], 2, 2)],
    "RETURN abs(-2) AS a, negate(2) AS b, sign(-3) AS c, even(2.5) AS d, floor(2.5) AS e, ceil(2.5) AS "
    "f, ceiling(2.5) AS g, round(2.345, 2) AS h": [(2, -2, -1, 4.0, 2.0, 3.0, 3.0, 2.35)],
    "RETURN greatest(date('2026-01-01'), date('2026-01-02')), least(date('2026-01-01'), "
    "date('2026-01-02')), pow(2, 3), sqrt(9), round(cbrt(27), 3), bitshift_left(1, 3), bitshift_right(8, 3)":
        [('2026-01-02', '2026-01-01', 8.0, 3.0, 3.0, 8, 1)],
    "RETURN bitwise_and(6, 3) AS a, bitwise_or(6, 3) AS b, bitwise_xor(6, 3) AS c, log10(100) AS d, "
    "log(100) AS e, log2(8) AS f, round(ln(10), 3) AS g": [(2, 7, 5, 2.0, 2.0, 3.0, 2.303)],
    "RETURN round(sin(1), 3), round(cos(1), 3), round(tan(1), 3), round(cot(1), 3), round(pi(), 3)":
        [(0.841, 0.54, 1.557, 0.642, 3.142)],
    "RETURN round(asin(1), 3), round(acos(0), 3), round(atan(1), 3), round(atan2(1, 1), 3), "
    "degrees(pi()), round(radians(180), 3)": [(1.571, 1.571, 0.785, 0.785, 180.0, 3.142)],
    "RETURN concat('a', 'b'), concat_ws('-', 'a', 'b'), contains('abc', 'b'), starts_with('abc', 'a'), "
    "ends_with('abc', 'c')": [('ab', 'a-b', True, True, True)],
    "RETURN prefix('abc', 'a'), suffix('abc', 'c'), initcap('wren'), left('abc', 2), right('abc', 2), "
    "reverse('abc')": [(True, True, 'Wren', 'ab', 'bc', 'cba')],
    "RETURN lower('A') AS a, lcase('A') AS b, tolower('A') AS c, upper('a') AS d, ucase('a') AS e, "
    "toupper('a') AS f": [('a', 'a', 'a', 'A', 'A', 'A')],
    "RETURN trim(' a '), ltrim(' a '), rtrim(' a '), levenshtein('boat', 'bolt'), size('abc'), "
    "stem('boats', 'english')": [('a', 'a ', ' a', 1, 3, 'boat')],
    "RETURN substring('harbour', 0, 3), substr('harbour', 4, 2), split_part('a-b', '-', 2)": [('har', 'bo', 'b')],
    "RETURN string_split('a-b', '-') AS a, str_split('a-b', '-') AS b, string_to_array('a-b', '-') AS "
    "c, regexp_split_to_array('a1b', '[0-9]') AS d": [(['a', 'b'], ['a', 'b'], ['a', 'b'], ['a', 'b'])],
    "RETURN regexp_extract('a12', '[0-9]+'), regexp_extract_all('a1b2', '[0-9]'), "
    "regexp_full_match('ab', 'a.'), regexp_matches('ab', 'b')": [('12', ['1', '2'], True, True)],
    "RETURN regexp_replace('a1b2', '[0-9]', '-'), regexp_replace('a1b2', '[0-9]', '-', 'g')": [('a-b2', 'a-b-')],
    "RETURN md5('a'), left(sha256('a'), 8), string(1), to_string(2.5)":
        [('0cc175b9c0f1b6a831c399e269772661', 'ca978112', '1', '2.500000')],
    "RETURN list_append([1], 2) AS a, list_prepend([1], 2) AS b, list_concat([1], [2]) AS c, "
    "list_cat([1], [2]) AS d, list_reverse([1, 2]) AS e": [([1, 2], [2, 1], [1, 2], [1, 2], [2, 1])],
    "RETURN list_contains([1, 2], 2) AS a, list_has([1], 2) AS b, array_contains([1], 1) AS c, "
    "array_has([1], 1) AS d, list_has_all([1, 2], [1]) AS e": [(True, False, True, True, True)],
    "RETURN list_extract([5, 6], 2), list_element([5, 6], -1), list_slice([1, 2, 3], 2, 3), "
    "array_slice([1, 2, 3], 1, 2)": [(6, 6, [2, 3], [1, 2])],
    "RETURN list_position([5, 6], 6), list_indexof([5, 6], 7), list_unique([1, 1, 2]), "
    "list_any_value([null, 3])": [(2, 0, 2, 3)],
    "RETURN list_sort([2, 1]), list_reverse_sort([1, 2]), list_sort([2, 1], 'DESC'), list_sum([1, 2]), "
    "list_product([2, 3])": [([1, 2], [2, 1], [2, 1], 3, 6)],
    "UNWIND list_distinct([1, 1, 2]) AS x RETURN x ORDER BY x": [(1,), (2,)],
    "RETURN list_to_string(',', ['a', 'b']), list_filter([1, 2], x -> x > 1), list_reduce([1, 2, 3], "
    "(x, y) -> x + y), list_transform([1], x -> x * 2)": [('a,b', [2], 6, [2])],
    "RETURN map(['a'], [1]) AS a, map_keys(map(['a'], [1])) AS b, map_values(map(['a'], [1])) AS c, "
    "map_extract(map(['a'], [1]), 'a') AS d, element_at(map(['a'], [1]), 'a') AS e": [({'a': 1}, ['a'], [1], [1], [1])],
    "RETURN cardinality(map(['a'], [1])), range(1, 5, 2), struct_extract({a: 1}, 'a'), struct_pack(a := "
    "1, b := 'x')": [(1, [1, 3, 5], 1, {'a': 1, 'b': 'x'})],
    "RETURN array_distance(CAST([1.0, 2.0] AS DOUBLE[2]), CAST([1.0, 4.0] AS DOUBLE[2]))": [(2.0,)],
    "RETURN date('2026-01-31'), make_date(2026, 1, 31), last_day(date('2026-02-03')), "
    "dayname(date('2026-01-31')), monthname(date('2026-01-31'))":
        [('2026-01-31', '2026-01-31', '2026-02-28', 'Saturday', 'January')],
    "RETURN timestamp('2026-01-31 12:30:00'), epoch_ms(1767268800000), "
    "to_epoch_ms(timestamp('2026-01-01 12:00:00')), to_timestamp(60)":
        [('2026-01-31T12:30:00', '2026-01-01T12:00:00', 1767268800000, '1970-01-01T00:01:00')],
    "RETURN date_part('month', date('2026-01-31')), datepart('year', date('2026-01-31')), "
    "date_trunc('month', date('2026-01-31')), datetrunc('year', date('2026-01-31'))":
        [(1, 2026, '2026-01-01', '2026-01-01')],
    "RETURN century(timestamp('2026-01-31 12:30:00')), current_date() > date('2020-01-01'), "
    "current_timestamp() > timestamp('2020-01-01 00:00:00')": [(21, True, True)],
    "RETURN date('2026-01-31') + interval('1 day'), duration('2 days'), to_days(1), to_hours(1), "
    "to_minutes(1), to_seconds(1), to_milliseconds(1)":
        [('2026-02-01', '2 days, 0:00:00', '1 day, 0:00:00', '1:00:00', '0:01:00', '0:00:01', '0:00:00.001000')],
    "RETURN to_months(1), to_years(1)": [('30 days, 0:00:00', '360 days, 0:00:00')],
    "RETURN cast('1', 'INT64'), CAST(1 AS STRING), coalesce(null, 1), ifnull(null, 2), nullif(1, 1), "
    "constant_or_null(1, 2), typeof(1)": [(1, '1', 1, 2, None, 1, 'INT64')],
    "RETURN decode(encode('ab')), octet_length(encode('ab')), hash('a') = hash('a'), to_bool('true'), "
    "to_date('2026-01-31')": [('ab', 2, True, True, '2026-01-31')],
    "RETURN to_double('1.5'), to_float('1.5'), to_int8('1'), to_int16('1'), to_int32('1'), "
    "to_int64('1'), to_int128('1')": [(1.5, 1.5, 1, 1, 1, 1, 1)],
    "MATCH (t:Turn) RETURN DISTINCT t.role AS role ORDER BY role ASC": [('assistant',), ('user',)],
    "MATCH (t:Turn) RETURN t.id ORDER BY t.role ASCENDING, t.index DESCENDING LIMIT 2": [('s5',), ('s3',)],
    "MATCH (t:Turn) WHERE t.index = 1 OR t.index = 2 XOR t.index = 3 RETURN t.id ORDER BY t.id":
        [('s1',), ('s2',), ('s3',)],
    "MATCH (t:Turn) WHERE t.id IN ['s1', 's9'] RETURN t.id": [('s1',)],
    "MATCH (t:Turn) WHERE t.text STARTS WITH 's' AND t.text ENDS WITH '5' RETURN t.id": [('s5',)],
    "MATCH (t:Turn) WHERE (t)-[:REPLIES_TO]->(:Turn) RETURN count(*)": [(5,)],
    "MATCH (t:Turn) WHERE NOT (t)-[:REPLIES_TO]->() RETURN t.id": [('s0',)],
    "MATCH (t:Turn)-->(b) RETURN label(b) AS kind, count(*) AS n ORDER BY kind":
        [('Entity', 6), ('Session', 6), ('Turn', 5)],
    "MATCH (t:Turn {id: 's1'})--(b:Turn) RETURN b.id ORDER BY b.id": [('s0',), ('s2',)],
    "MATCH (b:Turn {id: 's0'})<--(t:Turn) RETURN t.id": [('s1',)],
    "MATCH (t:Turn {id: 's5'})-[*1..2]->(b:Turn) RETURN b.id ORDER BY b.id": [('s3',), ('s4',), ('s5',)],
    "MATCH (t:Turn {id: 's5'})-[:REPLIES_TO*2]->(b) RETURN b.id": [('s3',)],
    "MATCH (t:Turn {id: 's5'})-[:REPLIES_TO*..2]->(b) RETURN b.id ORDER BY b.id": [('s3',), ('s4',)],
    "MATCH p = (t:Turn {id: 's5'})-[:REPLIES_TO* TRAIL 1..2]->(b:Turn) RETURN length(p) ORDER BY length(p)":
        [(1,), (2,)],
    "MATCH p = (t:Turn {id: 's5'})-[:REPLIES_TO* ACYCLIC 1..2]->(b:Turn) RETURN length(p) ORDER BY length(p)":
        [(1,), (2,)],
    "MATCH p = (t:Turn)-[:REPLIES_TO* SHORTEST 1..9]-(b:Turn) WHERE t.id = 's1' AND b.id = 's4' RETURN "
    "length(p)": [(3,)],
    "MATCH (a:Turn)-[:REPLIES_TO]->(b:Turn)-[:REPLIES_TO]->(c:Turn {id: 's0'}) RETURN a.id, b.id": [('s2', 's1')],
    "MATCH (t:Turn {id: 's1'}) RETURN t.id AS `my id`, t.text AS text": [('s1', 's1')],
    "MATCH (t:Turn {id: 's1'})-[r]->(b) RETURN label(r), label(b) ORDER BY label(r)":
        [('IN_SESSION', 'Session'), ('REPLIES_TO', 'Turn'), ('SAID_BY', 'Entity')],
    "MATCH (t:Turn) WITH t ORDER BY t.id DESC LIMIT 2 MATCH (t)-[:IN_SESSION]->(s:Session) RETURN t.id, s.id "
    "ORDER BY t.id": [('s4', 's'), ('s5', 's')],
    "MATCH (t:Turn) WITH t.role AS role, collect(t.id) AS ids RETURN role, size(ids), list_sort(ids)[1] "
    "ORDER BY role": [('assistant', 3, 's1'), ('user', 3, 's0')],
    "MATCH (t:Turn) WITH DISTINCT t.role AS role RETURN count(*)": [(2,)],
    "MATCH (t:Turn) WITH * WHERE t.id = 's1' RETURN t.id": [('s1',)],
    "MATCH (t:Turn {id: 's3'}) WITH t.id AS id RETURN *": [('s3',)],
    "MATCH (s:Session) RETURN s.id, COUNT { MATCH (s)<-[:IN_SESSION]-(t:Turn) WHERE t.role = 'user' } AS said":
        [('s', 3)],
    "MATCH (t:Turn) OPTIONAL MATCH (t)<-[:DERIVED_FROM]-(o:Observation) WITH t, count(o) AS proofs "
    "WHERE proofs = 0 RETURN count(*)": [(5,)],
    "OPTIONAL MATCH (t:Turn {id: 'nobody'}) RETURN t.id": [(None,)],
    "MATCH (a:Turn), (b:Turn) WHERE a.id < b.id RETURN count(*)": [(15,)],
    "MATCH (t:Turn) RETURN t.role AS role, sum(CASE WHEN t.index > 2 THEN 1 ELSE 0 END) AS later ORDER BY role":
        [('assistant', 2), ('user', 1)],
    "MATCH (t:Turn) WHERE t.index > 3 RETURN t.id, CASE WHEN t.live = true THEN 'stands' ELSE 'does "
    "not' END AS how ORDER BY t.id": [('s4', 'stands'), ('s5', 'stands')],
    "MATCH (t:Turn {id: 's1'}) RETURN CASE t.role WHEN 'user' THEN 1 WHEN 'assistant' THEN 2 END": [(2,)],
    "MATCH (t:Turn) WHERE t.at > to_epoch_ms(current_timestamp() - interval('30 days')) RETURN count(*)": [(6,)],
    "MATCH (t:Turn) RETURN date_trunc('year', epoch_ms(t.at)) > timestamp('2020-01-01 00:00:00') AS "
    "new, count(*)": [(True, 6)],
    "MATCH (o:Observation) WHERE o.text =~ '.*Wren.*' RETURN o.id": [('m',)],
    "MATCH (o:Observation)-[:DERIVED_FROM]->(t:Turn) WHERE o.current RETURN o.text, t.text":
        [('It\'s called "Wren"', 's0')],
    "MATCH (o:Observation)-[d:DERIVED_FROM]->(t:Turn)-[:SAID_BY]->(e:Entity) RETURN e.name, d.at = t.at":
        [('you', True)],
    "MATCH (e:Entity) RETURN e.id ORDER BY e.id": [('assistant',), ('you',)],
    "MATCH (w:World) RETURN w.id": [('main',)],
    "MATCH (m:Meta) RETURN m.version > 0, m.applied": [(True, 8)],
    "MATCH (n) RETURN label(n) AS kind, count(*) AS n ORDER BY n DESC, kind LIMIT 2": [('Turn', 6), ('Entity', 2)],
    "MATCH ()-[r]->() RETURN label(r) AS kind, count(*) AS n ORDER BY kind LIMIT 3":
        [('DERIVED_FROM', 1), ('HEAD', 1), ('IN_SESSION', 6)],
    "MATCH (t:Turn) RETURN t.id SKIP 100": [],
    "MATCH (t:Turn) WHERE false RETURN t": [],
    "MATCH (t:Turn) WHERE t.error IS NOT NULL RETURN count(*)": [(0,)],
    "UNWIND [1, 2] AS x UNWIND ['a', 'b'] AS y RETURN x, y ORDER BY x, y": [(1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')],
    "UNWIND [{a: 1}, {a: 2}] AS row RETURN row.a": [(1,), (2,)],
    "UNWIND ['s1', 's2'] AS id MATCH (t:Turn {id: id}) RETURN t.role ORDER BY t.role": [('assistant',), ('user',)],
    "RETURN 1 AS x UNION RETURN 1 AS x": [(1,)],
    "RETURN single(x IN [1, 2] WHERE x = 1), any(x IN [1] WHERE x = 1), all(x IN [] WHERE x = 1)": [(True, True, True)],
    "RETURN 1 <> 2, 1 <= 2, 2 >= 1, 1 < 2, 5 / 2, 5.0 / 2, -5 % 3, 'a' + 'b', 1 << 2, 8 >> 1, 6 & 3, 6 | 1":
        [(True, True, True, True, 2, 2.5, -2, 'ab', 4, 4, 2, 7)],
    "RETURN 'wren'[1], 'wren'[2:3], [1, 2, 3][-1], [1, 2] + [3], null IS NULL": [('w', 're', 3, [1, 2, 3], True)],
    "RETURN true AND NOT false, TRUE OR FALSE, NOT 1 IN [2]": [(True, True, True)],
    "RETURN {a: 1, b: {c: [1, 2]}}.b.c[2] AS deep": [(2,)],
    "RETURN '漢字 é 😀' AS words, size('漢字')": [('漢字 é 😀', 2)],
    "RETURN \"it's\" AS a, 'say \\\"hi\\\"' AS b, 'tab\\tnew\\nline' AS c": [("it's", 'say "hi"', 'tab\tnew\nline')],
    "RETURN 1.5e3, .5, -0.0, 9223372036854775807": [(1500.0, 0.5, -0.0, 9223372036854775807)],
    "WITH [1, 2, 3] AS list RETURN list[2:3], size(list)": [([2, 3], 3)],
    "WITH 2 AS n MATCH (t:Turn) WHERE t.index = n RETURN t.id": [('s2',)],
    "MATCH (t:Turn) WHERE EXISTS { MATCH (t)<-[:DERIVED_FROM]-(:Observation) } RETURN t.id": [('s0',)],
    "MATCH (t:Turn) WHERE NOT EXISTS { MATCH (t)<-[:REPLIES_TO]-() } RETURN t.id": [('s5',)],
    "MATCH (a:Turn)-[r:REPLIES_TO*1..2 (e, n | WHERE n.live)]->(b:Turn {id: 's0'}) RETURN a.id ORDER BY a.id":
        [('s1',), ('s2',)],
    "RETURN none(x IN [1] WHERE x = 2), 1 IN [1]": [(True, True)],
    "CALL show_connection('RECALLED') RETURN *":
        [('Turn', each, 'id', 'id') for each in ('Turn', 'Observation', 'Chunk', 'Reference')],
    "MATCH (e:Entity {id: 'you'}) RETURN e.*": [('you', 'you', 'you', None, 'you', None, None, False)],
}  # fmt: skip
