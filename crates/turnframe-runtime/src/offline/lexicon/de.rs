//! German. Phrases are separated by commas; line ends mean nothing. A word that a keyboard may have no letter for stands here twice.

use super::{Class, Source};
use crate::offline::form::Inflection;

pub(super) static SOURCE: Source = Source {
    inflection: Inflection::German,
    is_verb_final: true,
    entries: &[
        (
            Class::FILLER.or(Class::REQUEST),
            "bitte, bitte mal, bitteschön, doch bitte",
        ),
        (
            Class::FILLER,
            "mal, doch, eben, halt, einfach, gerade, jetzt, nun, sofort, gleich, umgehend, schnell,
             so bald wie möglich, sobald wie möglich, baldmöglichst, wenn möglich, falls möglich,
             wenn es geht, falls es geht, wenn du kannst, wenn sie können, wenn du magst,
             wenn du zeit hast, wenn sie zeit haben, für mich, für uns, dann, schon, noch, nochmal,
             noch einmal, noch mal, übrigens, im voraus, wieder, erstmal, erst einmal, vorerst, ja,
             denn, wohl, eigentlich",
        ),
        (
            Class::FILLER.or(Class::ADDITIVE),
            "auch, ebenfalls, zusätzlich, außerdem",
        ),
        (
            Class::GLUE,
            "ich, wir, du, sie, ihr, mir, uns, dir, ihnen, möchte, möchten, moechte, will, wollen,
             würde, würden, wuerde, gerne, gern, hätte, hätten, haette, brauche, brauchen, kann,
             können, soll, sollen, sollte, sollten, muss, müssen, darf, zu, nur, kurz, zuerst,
             zunächst, erst, hier, da, neu, neue, neuen, neues, neuer, weitere, weiteren, weiteres,
             anderen, andere, sicher, lass, lassen, lasst, bin, dass, sorge dafür, denk daran,
             denk dran, denke daran, sag mir, sagen sie mir, zeig mir, zeigen sie mir, gib bescheid,
             ich glaube, ich denke, ich finde, vergiss nicht, vergessen sie nicht, nicht vergessen,
             es wäre schön, es wäre nett",
        ),
        (
            Class::REQUEST.or(Class::GLUE),
            "kannst du, können sie, könntest du, könnten sie, koennten sie, koennen sie, könnt ihr,
             könntet ihr, würdest du, würden sie, wuerden sie, würdet ihr, wärst du so nett,
             wären sie so nett, wären sie so freundlich, magst du, wollt ihr, du kannst,
             du könntest, sie können, sie könnten, ich bitte sie, ich bitte dich, ich hätte gern,
             ich hätte gerne, ich wollte fragen ob sie, kannst du nicht",
        ),
        (
            Class::DETERMINER,
            "der, die, das, den, dem, des, ein, eine, einen, einem, einer, eines, dieser, diese,
             dieses, diesen, diesem, jener, jene, jenes, mein, meine, meinen, meinem, meiner, unser,
             unsere, unseren, unserem, dein, deine, ihre, ihren, irgendein, irgendeine, irgendeinen,
             irgendwelche",
        ),
        (
            Class::PRONOUN,
            "es, das, dies, dieses, ihn, ihm, sie, ihr, diese, diesen, dieser, den, die, der,
             dasselbe, denselben, dieselbe, davon, damit, dazu, daran, dafür",
        ),
        (
            Class::ONE,
            "eine, einen, eins, noch eine, noch einen, noch eins, noch ein, eine weitere,
             einen weiteren, ein weiteres",
        ),
        (
            Class::CONNECTIVE,
            "und, dann, aber, sowie, sondern, danach, anschließend, und dann, aber dann, und danach,
             zuletzt, schließlich, zweitens, erstens, drittens, also, so, nun, ferner, tja, äh, ähm,
             ach, na, jedoch, allerdings, plus",
        ),
        (
            Class::CONNECTIVE.or(Class::ADDITIVE),
            "außerdem, zudem, darüber hinaus, und auch",
        ),
        (
            Class::CONNECTIVE.or(Class::OR),
            "oder, und oder, weder",
        ),
        (
            Class::NEGATION.or(Class::HALT),
            "noch nicht, jetzt nicht, nicht jetzt, jetzt noch nicht, heute nicht",
        ),
        (
            Class::NEGATION,
            "bitte nicht, lieber nicht, besser nicht, auf keinen fall, nicht, nie, niemals, ohne, keinesfalls, auf keinen fall, nicht mehr,
             keineswegs, bloß nicht, noch gar nicht, gar nicht, statt, anstatt",
        ),
        (
            Class::NEGATION.or(Class::DETERMINER),
            "kein, keine, keinen, keinem, keiner, keines, noch kein, noch keine, noch keinen",
        ),
        (
            Class::NEGATION.or(Class::ANYTHING),
            "nichts, niemand, niemanden, niemandem, noch nichts, gar nichts, nichts mehr,
             nichts davon, keins, keines davon, nichts weiter",
        ),
        (
            Class::ANYTHING,
            "etwas, irgendetwas, irgendwas, was, alles, irgendwen, jemanden",
        ),
        (
            Class::HYPOTHETICAL,
            "was wäre wenn, was waere wenn, was passiert wenn, was würde passieren wenn,
             was geschieht wenn, was ist wenn, wie wäre es wenn, angenommen, gesetzt den fall,
             was wäre, was passiert, was würde passieren, was geschieht, kann ich, könnte ich,
             koennte ich, darf ich, dürfte ich, soll ich, sollte ich, muss ich, kann man,
             könnte man, darf man, können wir, könnten wir, sollen wir, sollten wir, dürfen wir,
             müssen wir, wie kann ich, wie könnte ich, wie kann man, ist es möglich,
             wäre es möglich, wäre es, ob, warum, wieso, wie wäre es, was kostet es,
             was würde es kosten, wie lange dauert es, würde es",
        ),
        (
            Class::CONDITION,
            "wenn, falls, sofern, sobald, solange, es sei denn, außer wenn, außer, nur wenn,
             vorausgesetzt, unter der bedingung dass, für den fall dass, im falle dass, sonst,
             ansonsten, andernfalls, bevor, nachdem, je nachdem",
        ),
        (
            Class::REPORT,
            "habe, hat, hast, haben sie, habt, hatte, hatten, hattest, wurde, wurden, war, waren,
             worden, weiß nicht, ich weiß, weißt du, wer",
        ),
        (Class::CORRECTION.or(Class::STRONG).or(Class::HALT), "moment, halt, warte, nein warte, warte mal, moment mal, einen moment, stopp"),
        (
            Class::CORRECTION.or(Class::STRONG),
            "nein, nee, ne, moment, halt, warte, korrektur, stattdessen, quatsch, ach nein,
             nein warte, stopp, doch nicht",
        ),
        (
            Class::CORRECTION,
            "sorry, entschuldigung, verzeihung, pardon, ich meine, ich meinte, eigentlich, vielmehr,
             lieber, besser, genauer, besser gesagt, mach daraus, mach das zu, beziehungsweise,
             ich wollte sagen, mein fehler, ups, hoppla",
        ),
        (
            Class::CANCELLATION,
            "vergiss es, vergiss das, vergessen sie es, vergessen sie das, lass es, lass das,
             lassen sie es, lassen sie das, schon gut, brich das ab, doch nicht, hat sich erledigt,
             das hat sich erledigt, mach das nicht, mach es nicht, tu das nicht,
             ich habe es mir anders überlegt, nimm das zurück, egal",
        ),
        (
            Class::CANCELLATION.or(Class::WEAK),
            "abbrechen, abbruch, brich ab, stopp, stop, halt, zurück, storniere das, storniere es",
        ),
        (
            Class::YES,
            "ja, jawohl, jep, jo, genau, bestätigt, bestätige, ich bestätige, richtig, korrekt,
             stimmt, selbstverständlich, natürlich, auf jeden fall, ja bitte, ja gerne, mach das,
             mach es, tu das, mach mal, machen sie das, bestätigen, sehr gerne, gerne,
             einverstanden",
        ),
        (
            Class::YES.or(Class::WEAK).or(Class::FILLER),
            "ok, okay, klar, gut, in ordnung, alles klar",
        ),
        (
            Class::YES.or(Class::WEAK),
            "passt, fein, prima, meinetwegen, von mir aus",
        ),
        (
            Class::NO,
            "nein, nee, ne, nö, nein danke, lieber nicht, ablehnen, ich lehne ab, besser nicht,
             auf keinen fall, bitte nicht",
        ),
        (
            Class::REMARK,
            "hallo, hi, hey, moin, servus, guten tag, guten morgen, guten abend, grüß gott, tag,
             liebe, lieber, liebes, sehr geehrte, sehr geehrter, danke, danke schön, dankeschön,
             vielen dank, danke sehr, besten dank, herzlichen dank, merci, danke im voraus,
             tausend dank, vielen dank im voraus, tschüss, tschüs, ciao, bis bald, bis später,
             auf wiedersehen, mit freundlichen grüßen, viele grüße, beste grüße, liebe grüße, lg,
             vg, mfg, gruß, grüße, schönen tag, schönen tag noch, kein problem, keine eile,
             das ist alles, das wäre alles, das war es, super, toll, prima, perfekt, großartig,
             wunderbar, klasse, wie geht es, wie geht es dir, wie geht es ihnen, gern geschehen,
             haha",
        ),
        (
            Class::SUBMISSION,
            "absenden, abschicken, schicke, schicken, schick, sende, senden, send, einreichen,
             verschicke, verschicken, versende, versenden, übermittle, übermitteln, abzusenden,
             abzuschicken, einzureichen, weiterleiten, schicken sie, senden sie",
        ),
        (
            Class::CHANGE,
            "tu, tun, mache, mach, machen, ändere, ändern, aendern, unternimm, unternehmen,
             verändere, verändern, anfassen, tue, machen sie, ändern sie, tun sie",
        ),
        (
            Class::PREPOSITION,
            "zu, für, fuer, von, vom, nach, bis, an, auf, mit, über, aus, bei, durch, gegen, vor,
             unter, zwischen, zum, zur, beim, wegen, als, pro, namens, hinter, seit, ins",
        ),
        (
            Class::PREPOSITION.or(Class::DATE_PREPOSITION),
            "am, um, im, in, ab",
        ),
        (
            Class::QUESTION,
            "was, wann, wo, wie, wer, welche, welcher, welches, wessen, wem, wen, warum, wohin",
        ),
        (
            Class::AUXILIARY,
            "ist, sind, war, waren, wird, werden, wurde, hat, haben, hatte, sein, soll, sollen,
             geht, gehen, kann, können, muss",
        ),
    ],
    contractions: &[
        ("geht's", "geht", "es"),
        ("gibt's", "gibt", "es"),
        ("ist's", "ist", "es"),
        ("war's", "war", "es"),
        ("mach's", "mach", "es"),
        ("wie's", "wie", "es"),
        ("was's", "was", "es"),
    ],
    particles: &[
        "ab", "an", "auf", "aus", "bei", "ein", "fort", "her", "heraus", "hin", "hinzu", "los",
        "mit", "nach", "raus", "um", "vor", "weg", "weiter", "wieder", "zu", "zurück", "zusammen",
    ],
    capitals: &["sie", "ihnen", "ihr", "ihre", "ihren", "ihrem"],
    abbreviations: &[
        "hr", "fr", "dr", "prof", "st", "nr", "ca", "bzw", "usw", "str", "z", "b", "d", "h",
    ],
};
