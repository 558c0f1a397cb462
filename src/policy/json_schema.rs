//! What editors and readers are told about the policy file: its JSON Schema, and the rows of its reference.
//!
//! Both come from one place each: `of_setting` for settings, `of_condition` for conditions. A test writes
//! `rules/policy.schema.json` and the tables of `docs/policy.md` from here and fails when they say something else. The schema
//! accepts every policy that loads; what it cannot say (names that must be defined, chains that must be complete) is left to
//! `load`.

use super::read::CONDITIONS;
use super::rule::*;
use super::words::Word;
use super::{BUILTINS, DEFAULT, InputLimits, load_builtin};
use crate::result::json::escape_into;
use crate::result::render::pretty_into;

/// A setting or a condition, as the reference shows it.
#[derive(Clone, Debug)]
pub struct Described {
    /// The key that policies write.
    pub name: &'static str,
    /// What it can be, in Markdown.
    pub values: String,
    /// Of a setting: what `sep-2200` sets it to for `model`, as policies write it.
    pub default: String,
    /// What it does, in Markdown, on one line.
    pub about: &'static str,
}

/// Every setting, in column order.
pub fn settings() -> Vec<Described> {
    let default = load_builtin(DEFAULT).ok();
    let model = Audiences::Named(Box::new(["model".into()]));
    let rules = default.iter().flat_map(|policy| &policy.rules).filter(|rule| rule.audiences == model);
    let set: Vec<&(Setting, Value)> = rules.flat_map(|rule| rule.settings.iter()).collect();
    let describe = |(setting, name): (Setting, &'static str)| {
        let (shape, about) = of_setting(setting);
        let default = set.iter().find(|(column, _)| *column == setting).map(|(_, value)| value.to_string());
        Described { name, values: shape.values(), default: default.unwrap_or_default(), about }
    };
    Setting::ALL.into_iter().map(describe).collect()
}

/// Every condition, in the order of the documentation.
pub fn conditions() -> Vec<Described> {
    let described = CONDITIONS.iter().filter_map(|name| {
        let (shape, about) = of_condition(name)?;
        Some(Described { name, values: shape.values(), default: String::new(), about })
    });
    described.collect()
}

// ---- what there is to say ---------------------------------------------------------------------------------

/// What a value can be.
enum Shape {
    Boolean,
    Text,
    /// One of these words.
    Word(Vec<&'static str>),
    /// One of these words, or a list of some.
    Words(Vec<&'static str>),
    /// A list of these words, each at most once.
    List(Vec<&'static str>),
    /// A list of lanes, never empty.
    Lanes,
    /// What becomes of a block, or a table of that by MIME pattern.
    Block,
    /// Text with places to fill.
    Template,
    MetaAllow,
    MetaDeny,
    Path,
    Paths,
    Extras,
    MediaOnly,
    Limit,
    Patterns,
    Labels,
    /// A comparison with a whole number, with any number that is not negative, with a share of 1.
    Count,
    Ratio,
    Share,
    Dates,
    App,
    Mirror,
}

fn words<W: Word>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(_, word)| *word).collect()
}

fn of_setting(setting: Setting) -> (Shape, &'static str) {
    match setting {
        Setting::Hide => (
            Shape::Boolean,
            "`true`: nothing of the result goes out, neither of a success nor of an error, no `_meta`; the placeholder \
             stands instead. Looked at before everything else.",
        ),
        Setting::Order => (Shape::Lanes, "The lanes of a successful result: the first one that is usable wins."),
        Setting::ErrorOrder => (
            Shape::Lanes,
            "The same when `isError` is true. A setting of its own, so that `order = [\"structured\", …]` never hides the \
             text of an error.",
        ),
        Setting::Usable => (
            Shape::Word(words::<Usable>()),
            "What makes the lane `content` usable, judged after `annotations` and `blocks.*`: `visible` a text that is not \
             blank, or any block that is no text and no note; `noted` notes count as well; `text` only a text that is not \
             blank; `any` any block that is left.",
        ),
        Setting::Role => {
            (Shape::Word(words::<Role>()), "Which role of MCP the reader has for `annotations`. A route setting.")
        }
        Setting::Annotations => (
            Shape::Word(words::<Annotations>()),
            "`narrow`: a block whose `annotations.audience` names others only is hidden, an absent or empty one hides \
             nothing; `narrow-strict`: an empty one hides; `ignore`: nothing is hidden. A route setting.",
        ),
        Setting::BlocksText => (Shape::Block, "What becomes of text blocks."),
        Setting::BlocksImage => (Shape::Block, "What becomes of images."),
        Setting::BlocksAudio => (Shape::Block, "What becomes of audio."),
        Setting::BlocksResourceLink => (Shape::Block, "What becomes of links to resources."),
        Setting::BlocksResourceText => (Shape::Block, "What becomes of embedded resources with a `text`."),
        Setting::BlocksResourceBlob => (Shape::Block, "What becomes of embedded resources with a `blob`."),
        Setting::BlocksUiResource => (
            Shape::Block,
            "What becomes of views of MCP Apps: links and resources with a `ui://` URI or the MIME type \
             `text/html;profile=mcp-app`.",
        ),
        Setting::BlocksUnknown => (Shape::Block, "What becomes of malformed blocks and of those no revision knows."),
        Setting::BlocksBlank => (
            Shape::Word(words::<Blank>()),
            "Text blocks with nothing visible in them: `drop` leaves them out when something else is left.",
        ),
        Setting::NotesText => (Shape::Template, "The note that stands for a text block."),
        Setting::NotesImage => (Shape::Template, "The note that stands for an image."),
        Setting::NotesAudio => (Shape::Template, "The note that stands for audio."),
        Setting::NotesResourceLink => (Shape::Template, "The note that stands for a link."),
        Setting::NotesResourceText => (Shape::Template, "The note that stands for embedded text."),
        Setting::NotesResourceBlob => (Shape::Template, "The note that stands for an embedded blob."),
        Setting::NotesUiResource => (Shape::Template, "The note that stands for a view of an MCP App."),
        Setting::NotesUnknown => (Shape::Template, "The note that stands for an unknown block."),
        Setting::MetaAllow => (
            Shape::MetaAllow,
            "Keys of the result's `_meta` that go out. `*` and `prefix/*` match no key that is reserved or malformed; a key \
             named whole always matches. `\"inherit\"` stands for what the next matching rule says.",
        ),
        Setting::MetaDeny => (
            Shape::MetaDeny,
            "Keys that do not go out whatever `meta.allow` says. Collected from every rule that matches; patterns match \
             reserved and malformed keys too.",
        ),
        Setting::MetaReserved => (
            Shape::Word(words::<Reserved>()),
            "Which revision says what keys the protocol keeps for itself: `union` those that any revision keeps.",
        ),
        Setting::MetaBlocks => (
            Shape::Word(words::<MetaBlocks>()),
            "The `_meta` of blocks and of embedded resources: `strip` takes it out, `allow` filters it by the same patterns.",
        ),
        Setting::MetaAs => (
            Shape::Word(words::<As>()),
            "How allowed keys go out: as the member `_meta`, as a text block, or in the one JSON object of `extras`.",
        ),
        Setting::StructuredNull => (
            Shape::Word(words::<NullAs>()),
            "Whether `structuredContent: null` is a value that can be shown, or as good as absent.",
        ),
        Setting::StructuredAs => (
            Shape::Word(words::<As>()),
            "How the structured value goes out: as the member `structuredContent`, as a text block, or in the one JSON object \
             of `extras`.",
        ),
        Setting::StructuredAt => (
            Shape::Word(words::<At>()),
            "Where its text block stands in the lane `structured`: where the first text stood (in front when there was \
             none), or behind the other blocks.",
        ),
        Setting::StructuredRender => (
            Shape::Word(words::<Render>()),
            "`compact`: no white space, the shortest escapes; `verbatim`: as it came; `pretty`: indented by two spaces; \
             `sorted`: compact, members by code point. A value that is a string goes out as that text, unquoted.",
        ),
        Setting::StructuredMedia => (
            Shape::Word(words::<Media>()),
            "In a value that goes out as text, a string that equals the `data` or `blob` of a visible block: `note` puts a \
             short note there, `keep` repeats it.",
        ),
        Setting::StructuredPick => (
            Shape::Paths,
            "JSONPaths (RFC 9535) to what is kept of the structured value; shape, order and number spelling stay. Empty: all.",
        ),
        Setting::StructuredOmit => {
            (Shape::Paths, "JSONPaths to what is left out of it, after `pick`. A path that finds nothing is no error.")
        }
        Setting::StructuredUnwrap => (
            Shape::Text,
            "A name: a value that is an object with this one member becomes the member's value. Empty: none.",
        ),
        Setting::TextIfJson => (
            Shape::Word(words::<IfJson>()),
            "A text that is a JSON object or array: `leave` it; `project`: `pick` and `omit` hold for it too, so that what is \
             left out does not come back as text; `rewrite`: and it is rendered as `structured.render` says.",
        ),
        Setting::Extras => (
            Shape::Extras,
            "What stands around the one JSON object of `as = \"extras\"`, and how it is kept from closing it: `remove` takes \
             `after` out of the JSON once, `lt` writes every `<` as `\\u003c`.",
        ),
        Setting::MediaOnly => {
            (Shape::MediaOnly, "Text blocks put around media that come without a text; `{tool}` is the tool's name.")
        }
        Setting::Limit => (
            Shape::Limit,
            "How much text one output may hold, over all its texts and the structured field together, in bytes of UTF-8, \
             code points or UTF-16 units. Replaced whole.",
        ),
        Setting::Sanitize => (
            Shape::List(Sanitize::WORDS.to_vec()),
            "What is taken out of texts, structured strings and allowed `_meta`, names and values.",
        ),
        Setting::Schema => (
            Shape::Word(words::<Schema>()),
            "What happens when the structured value of a success does not conform to the tool's `outputSchema`: nothing \
             (`off`), a `note` in the decision record, the value is `unusable`, or the result is refused (`reject`). Needs \
             the cargo feature `schema`. A route setting.",
        ),
        Setting::Placeholder => (Shape::Text, "The text when no lane is usable and there is no note."),
        Setting::PlaceholderHidden => (Shape::Text, "The text when `annotations` hid all there was."),
    }
}

fn of_condition(name: &str) -> Option<(Shape, &'static str)> {
    Some(match name {
        "server" => (Shape::Patterns, "The host's own name of the connection."),
        "tool" => (Shape::Patterns, "The name of the tool."),
        "revision" => (Shape::Dates, "The negotiated protocol revision. False when the host did not say it."),
        "app" => (
            Shape::App,
            "`true`: the tool's definition has `_meta.ui`; `\"only\"`: its `visibility` lacks `model`. Without a definition \
             it is no app.",
        ),
        "output_schema" => {
            (Shape::Boolean, "Whether the tool declares an `outputSchema`. False, either way, without a definition.")
        }
        "label" => (Shape::Labels, "`label.NAME`: a label that the host put on the request. False when it did not."),
        "error" => (Shape::Boolean, "Whether `isError` is true."),
        "content" => (
            Shape::Words(words::<ContentState>()),
            "`missing`: the result has no `content`; `empty`: no block that this audience may see; `blank`: nothing but texts \
             with nothing visible in them; `visible`: something to see.",
        ),
        "has" => (Shape::Words(words::<Kind>()), "There is a visible block of one of these kinds."),
        "only" => (
            Shape::Words(words::<Kind>()),
            "There is no visible block of another kind. True when there is no block at all.",
        ),
        "structured" => (
            Shape::Words(std::iter::once("present").chain(words::<StructuredState>()).collect()),
            "`object` and `array` are not empty, `empty` is `{}` or `[]`; `present` is all but `absent` and `null`.",
        ),
        "blocks" => (Shape::Count, "How many visible blocks there are."),
        "text_bytes" => (Shape::Count, "Bytes of all visible text, decoded, embedded text included."),
        "structured_bytes" => (Shape::Count, "Bytes of the structured value, compact. False without one."),
        "result_bytes" => (Shape::Count, "Bytes of the whole result as it came."),
        "ratio" => (
            Shape::Ratio,
            "`structured_bytes` divided by `text_bytes`; without a text above every bound. False without a value.",
        ),
        "meta" => (Shape::Patterns, "The result's `_meta` has a key that matches."),
        "meta_path" => (Shape::Path, "A JSONPath that finds something in `_meta` without its reserved keys."),
        "text_json" => (Shape::Boolean, "There is exactly one text block, and it is a JSON object or array."),
        "mirror" => (
            Shape::Mirror,
            "The blocks are, as JSON, the structured value again: `block` one text is; `joined` all texts, joined by nothing \
             or a line feed, are; `wrapped` the value is one member around such a text. `true`: any of the three; `false`: \
             there is a value and none of them holds. With `canonical` a text with a number that ECMAScript writes otherwise \
             mirrors nothing.",
        ),
        "path" => (Shape::Path, "A JSONPath that finds something in the structured value."),
        "schema_valid" => (
            Shape::Boolean,
            "The structured value conforms to the tool's `outputSchema`. False, either way, on an error or without a schema. \
             Needs the cargo feature `schema`.",
        ),
        "coverage" => (
            Shape::Share,
            "The share of the strings and numbers of the structured value that can be found in the visible blocks, 0 to 1. \
             False without a value.",
        ),
        _ => return None,
    })
}

// ---- for readers ------------------------------------------------------------------------------------------

impl Shape {
    /// Values in Markdown, to stand in a table.
    fn values(&self) -> String {
        let code = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ");
        match self {
            Shape::Boolean => "`true` `false`".into(),
            Shape::Text => "text".into(),
            Shape::Word(words) => code(words),
            Shape::Words(words) => format!("one or a list of {}", code(words)),
            Shape::List(words) => format!("list of {}", code(words)),
            Shape::Lanes => format!("list of {}", code(&words::<Lane>())),
            Shape::Block => format!("{}, or a table by MIME pattern", code(&words::<Disposition>())),
            Shape::Template => "[template](#blocks-notes)".into(),
            Shape::MetaAllow => "list of keys, `prefix/*`, `*`, `inherit`".into(),
            Shape::MetaDeny => "list of keys, `prefix/*`, `*`".into(),
            Shape::Path => "JSONPath".into(),
            Shape::Paths => "list of JSONPaths".into(),
            Shape::Extras => format!("table: `before`, `after`, `escape` = {}", code(&words::<Escape>())),
            Shape::MediaOnly => "table: `before`, `after`".into(),
            Shape::Limit => format!(
                "`none`, or a table: one of {} = N, `cut` = {}, `head`, `marker`",
                code(&words::<Unit>()),
                code(&words::<Cut>())
            ),
            Shape::Patterns => "pattern or list of patterns".into(),
            Shape::Labels => "table of patterns or lists of them".into(),
            Shape::Count => "comparison with a whole number".into(),
            Shape::Ratio => "comparison".into(),
            Shape::Share => "comparison, 0 to 1".into(),
            Shape::Dates => "comparison with a date".into(),
            Shape::App => "`true` `false` `only`".into(),
            Shape::Mirror => format!("`true` `false`, or a list of {}", code(&Mirror::WORDS)),
        }
    }
}

// ---- for editors ------------------------------------------------------------------------------------------

/// The JSON Schema (2020-12) of the policy file, indented, with a line feed at its end.
pub fn policy_schema() -> String {
    let described = settings();
    let top: Vec<&str> = own_keys(&described);
    let with_settings = |own: Vec<(&str, String)>| {
        let refs = top.iter().map(|key| (*key, reference(key)));
        closed(own.into_iter().chain(refs).collect())
    };
    let names = |of: &str| {
        object(vec![
            ("type", string("object")),
            ("propertyNames", object(vec![("minLength", "1".into())])),
            ("additionalProperties", reference(of)),
        ])
    };

    let mut defs: Vec<(&str, String)> = Vec::new();
    for key in &top {
        defs.push((key, definition_of(key, &described)));
    }
    defs.push(("when", when()));
    defs.push((
        "audience",
        about("Whom a rule speaks of: a name, a list of names, or \"*\" for all.", audience_names()),
    ));
    defs.push(("rule", about("Conditions and settings.", with_settings(vec![
        ("name", about("Messages and records call the rule so; a rule of an extended policy with this name is replaced.", text(1))),
        ("when", reference("when")),
        ("audience", reference("audience")),
        ("enabled", about("`false` takes away the extended rule of this name.", boolean())),
    ]))));
    defs.push(("rules", array_of(reference("rule"))));
    defs.push((
        "audience-section",
        about(
            "What an audience gets unless a rule says otherwise.",
            with_settings(vec![(
                "like",
                about("The audience whose section counts where this one says nothing.", text(0)),
            )]),
        ),
    ));
    defs.push((
        "server-section",
        about(
            "What holds for one server, or for those that match.",
            with_settings(vec![
                ("audience", reference("audience")),
                ("rules", reference("rules")),
                ("tools", names("tool-section")),
            ]),
        ),
    ));
    defs.push((
        "tool-section",
        about(
            "What holds for one of its tools, or for those that match.",
            with_settings(vec![("audience", reference("audience")), ("rules", reference("rules"))]),
        ),
    ));
    defs.push(("test", test()));

    let extends_name = object(vec![(
        "anyOf",
        array(vec![
            object(vec![("enum", strings(BUILTINS.iter().map(|(name, _)| *name)))]),
            object(vec![("type", string("string")), ("pattern", string("(\\.toml$|/)"))]),
        ]),
    )]);
    let extends = object(vec![(
        "anyOf",
        array(vec![
            object(vec![("const", string("none"))]),
            extends_name.clone(),
            object(vec![
                ("type", string("array")),
                ("items", extends_name),
                ("minItems", "1".into()),
                ("maxItems", "32".into()),
            ]),
        ]),
    )]);
    let most = InputLimits::ENGINE;
    let up_to =
        |most: u32| object(vec![("type", string("integer")), ("minimum", "1".into()), ("maximum", most.to_string())]);
    let audiences = object(vec![
        ("type", string("object")),
        ("propertyNames", object(vec![("pattern", string("^[^*?]+$"))])),
        ("additionalProperties", reference("audience-section")),
    ]);
    let properties = closed(vec![
        ("version", about("The version of the policy language.", object(vec![("const", "1".into())]))),
        (
            "extends",
            about(
                "A built-in policy, a relative path, or a list (later ones win); \"none\". Absent: \"sep-2200\".",
                extends,
            ),
        ),
        (
            "input",
            about(
                "Tightens what a result may measure.",
                closed(vec![("max_bytes", up_to(most.max_bytes)), ("max_depth", up_to(most.max_depth))]),
            ),
        ),
        ("audience", about("One section for each audience.", audiences)),
        ("rules", about("Rules for every server.", reference("rules"))),
        ("servers", about("One section for each server, by name or pattern.", names("server-section"))),
        ("overrides", about("Rules that win over everything, for every audience unless said.", reference("rules"))),
        ("tests", about("Cases that `mcp-select test` runs.", array_of(reference("test")))),
    ]);
    let head = [
        ("$schema", string("https://json-schema.org/draft/2020-12/schema")),
        ("title", string("mcp-select policy")),
        ("description", string("What each audience sees of an MCP tool result.")),
        // Policies are TOML 1.0; an editor that knows this keyword says so too.
        ("x-tombi-toml-version", string("v1.0.0")),
        ("required", strings(["version"].into_iter())),
    ];
    let compact = join(&[object(head.to_vec()), properties, object(vec![("$defs", object(defs))])]);
    let mut pretty = Vec::new();
    pretty_into(compact.as_bytes(), &mut pretty);
    pretty.push(b'\n');
    String::from_utf8(pretty).unwrap_or_default()
}

/// What stands in a rule or section: settings of one word, and groups.
fn own_keys(described: &[Described]) -> Vec<&'static str> {
    let mut keys: Vec<&'static str> = Vec::new();
    for Described { name, .. } in described {
        let key = name.split('.').next().unwrap_or(name);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn definition_of(key: &str, described: &[Described]) -> String {
    let one = |described: &Described| {
        let Some((setting, _)) = Setting::ALL.into_iter().find(|(_, name)| *name == described.name) else {
            return object(Vec::new());
        };
        let told = format!("{} Of sep-2200: {}", described.about, described.default);
        about(&told, of_setting(setting).0.schema())
    };
    let mut members = Vec::new();
    for described in described {
        match described.name.split_once('.') {
            None if described.name == key => return one(described),
            Some((group, member)) if group == key => members.push((member, one(described))),
            _ => {}
        }
    }
    closed(members)
}

fn when() -> String {
    let known = CONDITIONS.iter().filter_map(|name| of_condition(name).map(|(shape, told)| (*name, shape, told)));
    let conditions = known.map(|(name, shape, told)| (name, about(told, shape.schema())));
    about("All of these must hold.", closed(conditions.collect()))
}

fn test() -> String {
    let texts = || array_of(text(0));
    let lanes = object(vec![("enum", strings(words::<Lane>().into_iter()))]);
    let expect = [
        ("lane", about("The lane that was chosen.", lanes)),
        ("contains", about("Each stands in the selected result.", texts())),
        ("lacks", about("None stands in the selected result.", texts())),
        ("result", about("The selected result as JSON.", text(0))),
        ("is_error", about("Whether the selected result is an error.", boolean())),
        ("rule", about("The name of a rule that decided something.", text(0))),
    ];
    let expect = join(&[closed(expect.to_vec()), object(vec![("minProperties", "1".into())])]);
    let date = object(vec![("type", string("string")), ("pattern", string(&format!("^{DATE}$")))]);
    let members = [
        ("name", text(0)),
        ("server", text(0)),
        ("tool", text(0)),
        ("audience", about("`model` unless said.", text(0))),
        ("revision", date),
        ("result", about("A result as JSON.", text(0))),
        ("expect", expect),
    ];
    let needed = object(vec![("required", strings(["name", "result", "expect"].into_iter()))]);
    join(&[closed(members.to_vec()), needed])
}

fn audience_names() -> String {
    one_or_many(text(0))
}

const NUMBER: &str = "[-+]?[0-9._]+([eE][-+]?[0-9_]+)?";
const DATE: &str = "[0-9]{4}-[0-9]{2}-[0-9]{2}";

/// `< X`, `[X..Y]` and so on, as `read` takes them.
fn comparison(what: &str) -> String {
    let pattern = format!("^\\s*((<=?|>=?|=)?\\s*{what}|[\\[(\\]]\\s*{what}\\s*\\.\\.\\s*{what}\\s*[\\])\\[])\\s*$");
    object(vec![("type", string("string")), ("pattern", string(&pattern))])
}

fn compared(number: Vec<(&str, String)>) -> String {
    one_or_many(object(vec![("anyOf", array(vec![object(number), comparison(NUMBER)]))]))
}

impl Shape {
    fn schema(&self) -> String {
        let word = |words: Vec<&'static str>| object(vec![("enum", strings(words.into_iter()))]);
        let not_negative = |kind: &str| vec![("type", string(kind)), ("minimum", "0".into())];
        match self {
            Shape::Boolean => boolean(),
            Shape::Text | Shape::Template => text(0),
            Shape::Word(words) => word(words.clone()),
            Shape::Words(words) => one_or_many(word(words.clone())),
            Shape::List(words) => array_of(word(words.clone())),
            Shape::Lanes => object(vec![
                ("type", string("array")),
                ("items", word(words::<Lane>())),
                ("minItems", "1".into()),
                ("uniqueItems", "true".into()),
            ]),
            Shape::Block => {
                let by_mime = object(vec![
                    ("type", string("object")),
                    ("propertyNames", object(vec![("pattern", string("[/*]"))])),
                    ("additionalProperties", word(words::<Disposition>())),
                    ("required", strings(["*"].into_iter())),
                ]);
                either(vec![word(words::<Disposition>()), by_mime])
            }
            Shape::MetaAllow => array_of(meta_key()),
            Shape::MetaDeny => {
                array_of(join(&[meta_key(), object(vec![("not", object(vec![("const", string("inherit"))]))])]))
            }
            Shape::Path => path(),
            Shape::Paths => array_of(path()),
            Shape::Extras => closed(vec![("before", text(0)), ("after", text(0)), ("escape", word(words::<Escape>()))]),
            Shape::MediaOnly => closed(vec![("before", text(0)), ("after", text(0))]),
            Shape::Limit => limit(),
            Shape::Patterns => one_or_many(text(1)),
            Shape::Labels => object(vec![("type", string("object")), ("additionalProperties", one_or_many(text(0)))]),
            Shape::Count => compared(not_negative("integer")),
            Shape::Ratio => compared(not_negative("number")),
            Shape::Share => {
                let mut number = not_negative("number");
                number.push(("maximum", "1".into()));
                compared(number)
            }
            Shape::Dates => one_or_many(comparison(DATE)),
            Shape::App => object(vec![("enum", array(vec!["true".into(), "false".into(), string("only")]))]),
            Shape::Mirror => either(vec![boolean(), one_or_many(word(Mirror::WORDS.to_vec()))]),
        }
    }
}

fn limit() -> String {
    let most = || object(vec![("type", string("integer")), ("minimum", "1".into()), ("maximum", u32::MAX.to_string())]);
    let head =
        object(vec![("type", string("number")), ("exclusiveMinimum", "0".into()), ("exclusiveMaximum", "1".into())]);
    let mut members: Vec<(&str, String)> = words::<Unit>().into_iter().map(|unit| (unit, most())).collect();
    members.push((
        "cut",
        about(
            "What stays: the front, the end, both, or JSON that stays JSON. `head` unless said.",
            object(vec![("enum", strings(words::<Cut>().into_iter()))]),
        ),
    ));
    members.push(("head", about("Of `middle`, the share of the front. 0.75 unless said.", head)));
    members.push(("marker", about("Says what is missing, with {omitted}, {total} and {unit}.", text(0))));
    let one_unit = words::<Unit>().into_iter().map(|unit| object(vec![("required", strings([unit].into_iter()))]));
    let table = join(&[closed(members), object(vec![("oneOf", array(one_unit.collect()))])]);
    either(vec![object(vec![("const", string("none"))]), table])
}

fn meta_key() -> String {
    object(vec![("type", string("string")), ("pattern", string("^(\\*|[^*]+/\\*|[^*]*)$"))])
}

fn path() -> String {
    object(vec![("type", string("string")), ("pattern", string("^\\$"))])
}

// ---- JSON text --------------------------------------------------------------------------------------------

fn string(text: &str) -> String {
    let mut out = vec![b'"'];
    escape_into(text.as_bytes(), &mut out);
    out.push(b'"');
    String::from_utf8(out).unwrap_or_default()
}

fn strings<'a>(words: impl Iterator<Item = &'a str>) -> String {
    array(words.map(string).collect())
}

fn array(items: Vec<String>) -> String {
    format!("[{}]", items.join(","))
}

fn object(members: Vec<(&str, String)>) -> String {
    let members: Vec<String> = members.into_iter().map(|(name, value)| format!("{}:{value}", string(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// The members of several objects in one.
fn join(objects: &[String]) -> String {
    let inside =
        objects.iter().map(|object| object.strip_prefix('{').and_then(|o| o.strip_suffix('}')).unwrap_or_default());
    let inside: Vec<&str> = inside.filter(|inside| !inside.is_empty()).collect();
    format!("{{{}}}", inside.join(","))
}

fn about(text: &str, schema: String) -> String {
    join(&[object(vec![("description", string(text))]), schema])
}

fn reference(name: &str) -> String {
    object(vec![("$ref", string(&format!("#/$defs/{name}")))])
}

/// An object with these members and no others.
fn closed(members: Vec<(&str, String)>) -> String {
    object(vec![("type", string("object")), ("properties", object(members)), ("additionalProperties", "false".into())])
}

fn array_of(items: String) -> String {
    object(vec![("type", string("array")), ("items", items)])
}

fn either(schemas: Vec<String>) -> String {
    object(vec![("anyOf", array(schemas))])
}

/// One value, or a list of such that is not empty.
fn one_or_many(one: String) -> String {
    let many = join(&[array_of(one.clone()), object(vec![("minItems", "1".into())])]);
    either(vec![one, many])
}

fn boolean() -> String {
    object(vec![("type", string("boolean"))])
}

fn text(shortest: u8) -> String {
    match shortest {
        0 => object(vec![("type", string("string"))]),
        _ => object(vec![("type", string("string")), ("minLength", shortest.to_string())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_is_described() {
        let described: Vec<&str> = conditions().iter().map(|condition| condition.name).collect();
        assert_eq!(described, CONDITIONS);
    }

    #[test]
    fn every_setting_has_its_default() {
        for setting in settings() {
            assert!(!setting.default.is_empty() && setting.about.ends_with('.'), "{}", setting.name);
        }
    }
}
