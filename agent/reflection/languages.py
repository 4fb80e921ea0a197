"""The same few self-descriptions in German, French, Spanish, Italian, Portuguese and Dutch, each with its slot.

Few on purpose: name, home, origin, work, age, family and pets, allergies, what is liked and what is not.
"""

import re
from functools import lru_cache

from graph.events import ObservationKind as Kind

Found = tuple[Kind, str | None]
# Questions, conditions, jokes and others' words, in any of them.
DOUBT = re.compile(
    r"[?¿？]|\b(?:wenn|falls|wäre|würde|hätte|vielleicht|könnte|scherz|spaß|angenommen"
    r"|sagt|sagte|glaube|dir|dich|du|sie sagte"
    r"|peut-être|serais|serait|aurais|voudrais|plaisante|blague|imaginons|dit|crois|toi"
    r"|vous|ojalá|quizás?|tal vez|sería|tendría|querría"
    r"|broma|imagina|dijo|dice|creo|te|usted|forse|sarei|fossi|avrei|vorrei|scherzo|immagina"
    r"|detto|dice|credo|talvez|seria|teria|fosse|brincadeira"
    r"|imagine|disse|acho|você|misschien|zou|als ik|stel|grapje|zegt|zei|denk|jij|jou)\b"
    r"|\bs['’]il|^(?:et |e |y )?s[ie] ",
    re.I,
)
LEAD = re.compile(
    r"(?:(?:hallo|hi|hey|also|ja|nein|übrigens|eigentlich|bonjour|salut|oui|non|au fait"
    r"|en fait|alors|hola|s[íi]|no|por cierto|bueno|en realidad"
    r"|pues|ciao|comunque|in realtà|allora|olá|oi|sim|não|aliás|na verdade|hoi|nou|nee"
    r"|trouwens|eigenlijk|merci|danke|gracias|grazie|obrigad[oa]|bedankt)"
    r"[ ]*[,!.:]\s*|(?:en fait|en realidad|in realtà|na verdade|de hecho|al final|entretanto|inzwischen"
    r"|mittlerweile) )",
    re.I,
)
A_NAME = r"(?-i:(?!Batman|Superman|Dios|Dio|Deus)[A-ZÀ-Þ][a-zà-ÿ]{2,})(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)?(?=\W*$|,| [yei] ).*"
A_OR_NUMBER = r"(?:\w+|\d+)"


def _made(*rows: tuple[Kind, str | None, str]) -> tuple[tuple[Kind, str | None, str], ...]:
    return rows


RULES = _made(
    # German
    (Kind.IDENTITY, "name", r"(?:ich heiße|ich heisse|mein name ist|nenn mich|man nennt mich)\b .+"),
    (
        Kind.FACT,
        "residence",
        r"(?:ich|wir) (?:wohnen?|leben?)\b.* (?:in|bei|auf|mit)\b.+|(?:jetzt|inzwischen|seit"
        r" \w+|heute) (?:wohne|lebe) ich .+|(?:ich bin|wir sind)\b.* (?:nach|in) .+ (?:um)?gezogen",
    ),
    (Kind.FACT, "hometown", r"ich (?:komme|stamme) .*aus .+|ich bin (?:in .+ (?:geboren|aufgewachsen)|aus [A-Z].+)"),
    (Kind.FACT, "employer", r"ich arbeite .*\bbei\b .+"),
    (
        Kind.FACT,
        "job",
        r"ich arbeite\b.* (?:als|in|im)\b.+|ich bin (?:von beruf )?(?:eine? )?[A-ZÄÖÜ]\w+(?:er"
        r"|erin|in|ist|eur|arzt|ärztin|mann|frau|or|ent|loge)(?: von beruf| bei .+| in .+)?\W*$"
        r"|ich studiere .+",
    ),
    (Kind.IDENTITY, "age", r"ich (?:bin|werde) \w+ jahre alt.*|ich bin \d+\b.*"),
    (
        Kind.STATE,
        "diet",
        r"ich bin (?:jetzt |seit \w+ )*(?:vegetarier(?:in)?|veganer(?:in)?|vegan)\b.*|ich" r" esse kein fleisch.*",
    ),
    (Kind.STATE, "marital", r"ich bin .*(?:verheiratet|geschieden|ledig|single|verlobt)\b.*"),
    (Kind.STATE, None, r"ich bin .*allergisch .+|ich habe .*(?:allergie|diabetes|asthma)\b.*"),
    (
        Kind.FACT,
        None,
        r"(?:ich habe|wir haben) \w+ (?:\w+ )?(?:hunde?|katzen?|kater|kinder?|söhne?|töchter"
        r"|tochter|sohn|brüder|bruder|schwestern?|geschwister|pferde?)\b.*",
    ),
    (
        Kind.PREFERENCE,
        None,
        r"ich (?:liebe|hasse|mag) (?!es\b|das\b|ihn\b|sie\b|diese).+|ich (?:spiele|sammle"
        r"|lerne|spreche|trinke|esse) (?:gern|seit|kein|keinen|keine|jeden|[A-ZÄÖÜ]).+|mein(?:e"
        r"|en)? lieblings\w+ .+|mein(?:e)? hobbys? .+",
    ),
    (
        Kind.RELATIONSHIP,
        None,
        r"(?:mein|meine|unser|unsere) (?:frau|mann|tochter|sohn|schwester|bruder|mutter|vater"
        r"|freundin|freund|hund|katze|kater) .*(?:heißt|heisst|ist|wohnt|lebt|arbeitet|hat)"
        r" .+",
    ),
    (Kind.FACT, None, r"mein geburtstag ist .+|ich habe am .+ geburtstag.*"),
    # French
    (Kind.IDENTITY, "name", r"je m['’]appelle .+|mon (?:nom|prénom) est .+|appelle[sz]?-moi .+"),
    (
        Kind.FACT,
        "residence",
        r"(?:j['’]habite|je vis|nous habitons|nous vivons|on habite) .*(?:à|en|au|aux|dans"
        r"|avec|près|chez) .+|(?:j['’]ai|nous avons) (?:récemment )?(?:déménagé|emménagé)"
        r" .+",
    ),
    (Kind.FACT, "hometown", r"je (?:viens de|suis née? (?:à|en|au)|suis originaire) .+|j['’]ai grandi .+"),
    (Kind.FACT, "employer", r"je travaille (?:\w+ ){0,4}chez .+"),
    (
        Kind.FACT,
        "job",
        r"je travaille .*(?:comme|dans|en tant) .+|je suis (?:une? )?(?:infirmi|médecin|professeur"
        r"|prof|ingénieur|étudiant|avocat|architecte|cuisini|boulang|musicien|journaliste"
        r"|comptable|développeu|enseignant|retraité|vendeu|dentiste|plombier|instit)\w*.*",
    ),
    (Kind.IDENTITY, "age", r"j['’]ai \w+(?:[- ]\w+){0,3} ans\b.*"),
    (
        Kind.STATE,
        "diet",
        r"je suis (?:maintenant )?(?:végétarien|végétalien|végan|vegan)\w*.*|je ne mange" r" (?:pas|plus) de viande.*",
    ),
    (Kind.STATE, "marital", r"je suis (?:mariée?|divorcée?|célibataire|fiancée?|veuf|veuve)\b.*"),
    (Kind.STATE, None, r"je suis (?:allergique|diabétique|asthmatique|française?|allemande?|belge|suisse)\b.*"),
    (
        Kind.FACT,
        None,
        r"(?:j['’]ai|nous avons|on a) (?:une?|deux|trois|quatre|\d+) (?:\w+ )?(?:chiens?"
        r"|chats?|chattes?|enfants?|fils|filles?|frères?|sœurs?|soeurs?|chevaux|cheval)\b.*",
    ),
    (
        Kind.PREFERENCE,
        None,
        r"(?:j['’]adore|j['’]aime|je n['’]aime (?:pas|plus)|je déteste|je préfère) (?!ça"
        r"|cela|bien ça|ce\b|cette\b|ces\b).+|je (?:joue d|joue à|apprends|parle|collectionne"
        r"|bois|mange)\w* .+|mon .{2,20} préféré\w* .+|ma .{2,20} préférée .+",
    ),
    (
        Kind.RELATIONSHIP,
        None,
        r"(?:mon|ma|notre) (?:femme|mari|fille|fils|sœur|soeur|frère|mère|père|copine|copain"
        r"|chien|chat) .*(?:s['’]appelle|est|habite|vit|travaille|a) .+",
    ),
    (Kind.FACT, "birthday", r"mon anniversaire est .+|je suis née? le .+"),
    # Spanish
    (Kind.IDENTITY, "name", rf"me llamo .+|mi nombre es .+|llámame .+|(?:yo )?soy {A_NAME}"),
    (
        Kind.FACT,
        "residence",
        r"(?:ahora |actualmente )?(?:yo )?(?:vivo|vivimos|resido) .*(?:en|con|cerca) .+|me"
        r" (?:he mudado|mudé) .+|nos mudamos .+",
    ),
    (Kind.FACT, "hometown", r"soy de [A-ZÁÉ].+|(?:nací|crecí) en .+|vengo de .+"),
    (Kind.FACT, "employer", r"trabajo (?:\w+ ){0,4}(?:en|para) [A-ZÁÉ].+"),
    (
        Kind.FACT,
        "job",
        r"trabajo .*(?:como|de|en|para) .+|(?:yo )?soy (?:un |una )?(?:enfermer|médic|profesor"
        r"|ingenier|estudiante|abogad|arquitect|cociner|músic|periodista|contable|programador"
        r"|maestr|jubilad|dentista|camarer)\w*.*",
    ),
    (Kind.IDENTITY, "age", r"tengo \w+(?: y \w+)? años.*"),
    (Kind.STATE, "diet", r"(?:ahora )?soy (?:vegetarian|vegan)\w+.*|(?:ya )?no como carne.*"),
    (Kind.STATE, "marital", r"estoy (?:casad|divorciad|solter|prometid)\w+.*|soy (?:solter|viud)\w+.*"),
    (Kind.STATE, None, r"soy (?:alérgic|diabétic|asmátic|celíac|español|mexican|argentin|colombian|chilen)\w+.*"),
    (
        Kind.FACT,
        None,
        r"(?:tengo|tenemos) (?:un|una|dos|tres|cuatro|\d+) (?:\w+ )?(?:perr[oa]s?|gat[oa]s?"
        r"|hij[oa]s?|herman[oa]s?|niñ[oa]s?|caballos?)\b.*",
    ),
    (
        Kind.PREFERENCE,
        None,
        r"(?:no )?(?:me (?:gusta|encanta|fascina)n?|odio|detesto|prefiero|adoro) (?!eso|esto"
        r"|que\b|est[aeo]s?\b|tu\b).+|(?:toco|juego al|hablo|colecciono|estudio|aprendo)"
        r" .+|mi .{2,20} favorit[oa] es .+",
    ),
    (
        Kind.RELATIONSHIP,
        None,
        r"mi (?:mujer|esposa|esposo|marido|hija|hijo|hermana|hermano|madre|padre|novia|novio"
        r"|perro|perra|gato|gata) .*(?:se llama|es|vive|trabaja|tiene) .+",
    ),
    (Kind.FACT, "birthday", r"mi cumpleaños es .+|nací el .+"),
    # Italian
    (Kind.IDENTITY, "name", rf"mi chiamo .+|il mio nome è .+|chiamami .+|(?:io )?sono {A_NAME}"),
    (
        Kind.FACT,
        "residence",
        r"(?:ora |adesso )?(?:io )?(?:vivo|abito|viviamo|abitiamo) .*(?:a|in|con|ad|vicino)"
        r" .+|mi sono trasferit[oa] .+",
    ),
    (Kind.FACT, "hometown", r"(?:vengo da|sono di) [A-Z].+|sono (?:nat[oa]|cresciut[oa]) .+"),
    (Kind.FACT, "employer", r"lavoro (?:\w+ ){0,4}(?:per|presso|alla) .+"),
    (
        Kind.FACT,
        "job",
        r"lavoro .*(?:come|in|nel|nella) .+|faccio (?:il|la|l['’]) ?\w+.*|(?:io )?sono (?:un['’]?"
        r" ?|una )?(?:infermier|medic|professor|ingegner|student|avvocat|architett|cuoc|musicist"
        r"|giornalist|insegnant|pensionat|dentist|programmator)\w*.*",
    ),
    (Kind.IDENTITY, "age", r"ho \w+ anni.*"),
    (Kind.STATE, "diet", r"(?:ora )?sono (?:vegetarian|vegan)\w+.*|non mangio (?:più )?carne.*"),
    (Kind.STATE, "marital", r"sono (?:sposat|divorziat|single|fidanzat|vedov)\w*.*"),
    (Kind.STATE, None, r"sono (?:allergic|diabetic|asmatic|celiac|italian|tedesc)\w+.*"),
    (
        Kind.FACT,
        None,
        r"(?:ho|abbiamo) (?:un['’]?|uno|una|due|tre|quattro|\d+) ?(?:\w+ )?(?:can[ei]|gatt[oiae]"
        r"|figl\w+|fratell[oi]|sorell[ae]|bambin[oiae]|cavall[oi])\b.*",
    ),
    (
        Kind.PREFERENCE,
        None,
        r"(?:non )?(?:mi piac(?:e|ciono)|adoro|odio|detesto|amo|preferisco) (?!questo|quest"
        r"|quello|che\b|la tua).+|(?:suono|gioco a|parlo|colleziono|studio|imparo) .+|il"
        r" mio .{2,20} preferito è .+|la mia .{2,20} preferita è .+",
    ),
    (
        Kind.RELATIONSHIP,
        None,
        r"(?:il mio |la mia |mi[oa] )(?:moglie|marito|figlia|figlio|sorella|fratello|madre"
        r"|padre|ragazza|ragazzo|cane|gatto|gatta) .*(?:si chiama|è|vive|abita|lavora|ha)"
        r" .+",
    ),
    (Kind.FACT, "birthday", r"il mio compleanno è .+|sono nat[oa] il .+"),
    # Portuguese
    (Kind.IDENTITY, "name", rf"(?:eu )?me chamo .+|chamo-me .+|(?:o )?meu nome é .+|(?:eu )?sou (?:[oa] )?{A_NAME}"),
    (
        Kind.FACT,
        "residence",
        r"(?:agora )?(?:eu )?(?:moro|vivo|moramos|vivemos) .*(?:em|no|na|com|perto) .+|(?:eu"
        r" )?(?:me mudei|mudei-me) .+",
    ),
    (Kind.FACT, "hometown", r"(?:eu )?sou d[eoa] [A-Z].+|(?:eu )?(?:nasci|cresci) .+|venho d[eoa] .+"),
    (Kind.FACT, "employer", r"(?:eu )?trabalho (?:\w+ ){0,4}(?:na|no|para|pra) (?:a |o )?[A-Z].+"),
    (
        Kind.FACT,
        "job",
        r"(?:eu )?trabalho .*(?:como|em|na|no|de) .+|(?:eu )?sou (?:um |uma )?(?:enfermeir"
        r"|médic|professor|engenheir|estudante|advogad|arquitet|cozinheir|músic|jornalista"
        r"|aposentad|dentista|programador)\w*.*",
    ),
    (Kind.IDENTITY, "age", r"(?:eu )?tenho \w+(?: e \w+)? anos.*"),
    (Kind.STATE, "diet", r"(?:agora )?(?:eu )?sou (?:vegetarian|vegan)\w+.*|(?:eu )?não como (?:mais )?carne.*"),
    (Kind.STATE, "marital", r"(?:eu )?(?:sou|estou) (?:casad|divorciad|solteir|noiv|viúv)\w+.*"),
    (Kind.STATE, None, r"(?:eu )?(?:sou|tenho) (?:alérgic|alergia|diabétic|asmátic|celíac|brasileir|portugu)\w*.*"),
    (
        Kind.FACT,
        None,
        r"(?:eu )?(?:tenho|temos) (?:um|uma|dois|duas|três|quatro|\d+) (?:\w+ )?(?:cachorr[oa]s?"
        r"|cão|cães|gat[oa]s?|filh[oa]s?|irmã[os]?|irmãos|cavalos?)\b.*",
    ),
    (
        Kind.PREFERENCE,
        None,
        r"(?:eu )?(?:não )?(?:gosto d\w+|adoro|odeio|detesto|prefiro|amo) (?!isso|isto|você"
        r"|que\b).+|(?:eu )?(?:toco|jogo|falo|coleciono|estudo|aprendo) .+|(?:a minha|o meu"
        r"|minha|meu) .{2,20} (?:favorit|preferid)[oa] é .+",
    ),
    (
        Kind.RELATIONSHIP,
        None,
        r"(?:a minha|o meu|minha|meu) (?:mulher|esposa|marido|filha|filho|irmã|irmão|mãe"
        r"|pai|namorada|namorado|cachorro|cão|gato|gata) .*(?:se chama|chama-se|é|mora|vive"
        r"|trabalha|tem) .+",
    ),
    (Kind.FACT, "birthday", r"(?:o )?meu aniversário é .+"),
    # Dutch
    (Kind.IDENTITY, "name", r"ik heet .+|mijn naam is .+|noem me .+"),
    (
        Kind.FACT,
        "residence",
        r"(?:ik woon|wij wonen|we wonen|ik leef) .*(?:in|bij|met|op) .+|ik ben .*(?:naar"
        r"|in) .+ verhuisd.*|ik ben .*verhuisd naar .+",
    ),
    (Kind.FACT, "hometown", r"ik kom .*uit .+|ik ben (?:opgegroeid|geboren) .+"),
    (Kind.FACT, "employer", r"ik werk .*bij .+"),
    (
        Kind.FACT,
        "job",
        r"ik werk .*(?:als|in|voor) .+|ik ben (?:een )?(?:verpleeg|arts|leraar|lerares|docent"
        r"|ingenieur|student|advocaat|architect|kok|muzikant|journalist|programmeur|tandarts"
        r"|gepensioneerd)\w*.*|ik studeer .+",
    ),
    (Kind.IDENTITY, "age", r"ik ben \w+ jaar.*"),
    (Kind.STATE, "diet", r"ik ben (?:nu )?(?:vegetari|veganist)\w*.*|ik eet geen vlees.*"),
    (Kind.STATE, "marital", r"ik ben .*(?:getrouwd|gescheiden|vrijgezel|verloofd)\b.*"),
    (Kind.STATE, None, r"ik ben (?:allergisch|diabeet|nederland|vlaming|belg)\w*.*"),
    (
        Kind.FACT,
        None,
        r"(?:ik heb|we hebben|wij hebben) (?:een|twee|drie|vier|\d+) (?:\w+ )?(?:hond(?:en)?"
        r"|kat(?:ten)?|kinderen|kind|zoon|zonen|dochters?|broers?|zus(?:sen)?|paard(?:en)?)\b.*",
    ),
    (
        Kind.PREFERENCE,
        None,
        r"ik (?:hou van|haat|houd van|hou niet van) (?!het\b|dat\b|dit\b|je\b).+|ik (?:speel"
        r"|verzamel|leer|spreek|drink|eet) .+|mijn favoriete .+ is .+|mijn lievelings\w+"
        r" .+",
    ),
    (
        Kind.RELATIONSHIP,
        None,
        r"(?:mijn|onze|ons) (?:vrouw|man|dochter|zoon|zus|broer|moeder|vader|vriendin|vriend"
        r"|hond|kat) .*(?:heet|is|woont|werkt|heeft) .+",
    ),
    (Kind.FACT, "birthday", r"mijn verjaardag is .+|ik ben jarig op .+"),
)
FIRST = re.compile(
    r"(?:ich|wir|meine?|unsere?|nenn|man|jetzt|inzwischen|je|j['’]|mon|ma|nous|on|notre"
    r"|appelle|me|mi|yo|soy|tengo|vivo|trabajo|llámame|ahora|nos|no|ya|odio|toco|juego"
    r"|hablo|estoy|nací|crecí|vengo|tenemos|vivimos|adoro|prefiero|detesto|estudio|aprendo"
    r"|colecciono|io|sono|ho|abito|lavoro|faccio|il|la|ora|adesso|chiamami|non|amo|suono"
    r"|gioco|parlo"
    r"|abbiamo|viviamo|preferisco|studio|eu|moro|trabalho|tenho|sou|o|a|meu|minha|gosto"
    r"|não|chamo|odeio|falo|jogo|temos|estou|nasci|cresci|agora|ik|wij|we|mijn|onze|ons"
    r"|noem)\b",
    re.I,
)


@lru_cache(maxsize=256)
def foreign(text: str) -> tuple[Kind, str | None] | None:
    """The kind and slot of a self-description in one of the languages; None for all else."""
    bare = LEAD.sub("", NEWS.sub("", text.strip(), count=1), count=1).rstrip(".!。 ")
    if not FIRST.match(bare) or DOUBT.search(bare):
        return None
    for part in (bare, *AND.split(bare)[1:]):
        for kind, slot, pattern in _rules():
            if pattern.match(part):
                return kind, slot
    return None


def foreign_slots(text: str) -> frozenset[str]:
    """What has one value at a time of a text in one of the languages, also where it speaks of "the user"."""
    said = NEWS.sub("", text.strip(), count=1)
    match = OF_USER.match(said)
    if match is None:
        found = (foreign(part) for part in AND.split(said))
        return frozenset(each[1] for each in found if each and each[1])
    rest = said[match.end() :]
    return frozenset(slot for slot, pattern in _third() if pattern.match(rest))


AND = re.compile(rf"(?:,? (?:und|et|y|e|ed|en|ma|mais|pero|aber|maar|mas) |[,;] )(?={FIRST.pattern})", re.I)
NEWS = re.compile(
    r"(?:kleines? |petite? |pequeñ[ao] |piccol[ao] |pequen[ao] )?(?:update|korrektur|neuigkeiten?|nachtrag|correction"
    r"|nouvelle|corrección|noticia|correzione|novità|correção|novidade|correctie|nieuws|mise à jour|actualización"
    r"|aggiornamento|atualização)\s*[:,!]\s*|(?:sorry|entschuldigung|pardon|désolée?|perdón|perdona|scusa|desculpa)?"
    r"[, ]*(?:ich meinte|je voulais dire|quise decir|volevo dire|quis dizer|ik bedoelde)\s*[:,]?\s*",
    re.I,
)
OF_USER = re.compile(
    r"(?:(?:der|die) (?:be)?nutzer(?:in)?|l['’]utilisat(?:eur|rice)|(?:el|la) usuari[oa]|l['’]utente"
    r"|(?:o|a) (?:usuári[oa]|utilizador[a]?)|de gebruik(?:er|ster))\s+",
    re.I,
)
# The same in the third person, as a model writes it of "the user".
THIRD = (
    ("name", r"hei(?:ß|ss)t|s['’]appelle|se llama|si chiama|se chama|chama-se|heet"),
    (
        "residence",
        r"(?:wohnt|lebt|zog|habite|vit|vive|reside|abita|mora|woont|leeft)\b|ist (?:\w+ )*nach|a (?:dé|em)ménagé"
        r"|se (?:ha )?mud|si è trasferit|mudou-se|is (?:\w+ )*naar",
    ),
    ("employer", r"(?:arbeitet|werkt)\b.* bei\b|werkt\b.* bij\b|travaille\b.* chez\b|trabaja\b.* en (?-i:[A-Z])"),
    (
        "job",
        r"(?:arbeitet|werkt|travaille|trabaja|trabalha|lavora)\b|(?:ist|est|es|è|é|is) (?:une? |een |eine? |un[ao]? |um"
        r" )?\w*(?:lehrer|arzt|ärzt|ingenieur|schwester|pfleger|hebamme|student|infirmi|médecin|prof|ingéni|étudiant"
        r"|avocat|enfermer|médic|ingenier|estudiante|abogad|arquitect|infermier|medic|ingegner|avvocat|architett"
        r"|enfermeir|engenheir|advogad|verpleeg|leraar|lerares|kok)",
    ),
    ("hometown", r"(?:kommt|stammt) .*aus|vient de|est originaire|es de|viene de|è di|viene da|vem de|komt .*uit"),
    (
        "age",
        r"(?:ist|is|wird) \d+|(?:ist|is) \w+ (?:jahre|jaar)|a \w+(?:-\w+)* ans|tiene \w+.* años|ha \w+ anni"
        r"|tem .* anos",
    ),
    ("diet", r"(?:ist|est|es|è|é|is) .*(?:veg[ea]tari|végét|vegan|végan)"),
    (
        "marital",
        r"(?:ist|est|está|es|è|é|is) .*(?:verheiratet|geschieden|ledig|verlobt|mariée?|divorc|casad|solter"
        r"|sposat|getrouwd)",
    ),
)


@lru_cache(maxsize=1)
def _third() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((slot, re.compile(rf"(?:{pattern})", re.I)) for slot, pattern in THIRD)


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[Kind, str | None, re.Pattern[str]], ...]:
    """Compiled at the first foreign sentence, not at import."""
    return tuple((kind, slot, re.compile(pattern, re.I)) for kind, slot, pattern in RULES)
