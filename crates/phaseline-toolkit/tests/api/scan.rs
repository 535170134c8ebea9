//! Reads the public items of a crate from its sources: what a path from outside reaches. Items that are hidden from
//! documentation, or behind the feature `unchecked`, are left out, and so are those that macros make.

use quote::ToTokens;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use syn::{Attribute, ImplItem, Item, TraitItem, UseTree, Visibility};

/// The public API of a crate.
pub struct Api {
    /// An item each, sorted.
    pub lines: BTreeSet<String>,
    /// Structs, enums, traits and aliases among them that the crate defines.
    pub types: usize,
}

/// The modules of a crate, by their paths.
type Modules = BTreeMap<Vec<String>, Vec<Item>>;

impl Api {
    /// Reads the crate whose `lib.rs` is in a folder.
    pub fn of(source: &Path) -> Self {
        let mut modules = Modules::new();
        read(&source.join("lib.rs"), source.to_owned(), vec![], &mut modules);
        let mut api = Self { lines: BTreeSet::new(), types: 0 };
        let mut seen = BTreeSet::new();
        api.module(&modules, &[], &[], &mut seen);
        let implemented: BTreeSet<String> = seen.iter().map(|(path, _)| path.clone()).collect();
        for (path, shown) in &seen {
            if implemented.contains(path) {
                api.methods(&modules, path, shown);
            }
        }
        api
    }

    /// Notes what a module shows at a public path. `seen` gets the types: the place that they are at, and their names.
    fn module(
        &mut self,
        modules: &Modules,
        path: &[String],
        shown: &[String],
        seen: &mut BTreeSet<(String, String)>,
    ) {
        for item in modules.get(path).into_iter().flatten() {
            match item {
                Item::Mod(inner) if is_public(&inner.vis, &inner.attrs) => {
                    let name = inner.ident.to_string();
                    self.module(modules, &with(path, &name), &with(shown, &name), seen);
                }
                Item::Use(import) if is_public(&import.vis, &import.attrs) => {
                    let mut names = vec![];
                    flatten(&import.tree, &mut vec![], &mut names);
                    for (from, name, new) in names {
                        self.import(modules, path, &from, (&name, &new), shown, seen);
                    }
                }
                item => self.item(item, path, shown, None, seen),
            }
        }
    }

    /// Notes what `pub use` shows: an item of the crate, or one of another.
    fn import(
        &mut self,
        modules: &Modules,
        path: &[String],
        from: &[String],
        (name, new): (&str, &str),
        shown: &[String],
        seen: &mut BTreeSet<(String, String)>,
    ) {
        let target = resolve(modules, path, from);
        let Some(target) = target else {
            let from = from.join("::");
            self.lines.insert(format!("use {} = {from}::{name}", with(shown, new).join("::")));
            return;
        };
        let inner = with(&target, name);
        if name == "*" {
            self.module(modules, &target, shown, seen);
        } else if modules.contains_key(&inner) {
            self.module(modules, &inner, &with(shown, new), seen);
        } else {
            let mut found = false;
            for item in modules.get(&target).into_iter().flatten() {
                if name_of(item).as_deref() == Some(name) {
                    self.item(item, &target, shown, Some(new), seen);
                    found = true;
                }
                if let Item::Use(import) = item {
                    let mut names = vec![];
                    flatten(&import.tree, &mut vec![], &mut names);
                    for (from, inner, alias) in names.into_iter().filter(|(.., new)| new == name) {
                        self.import(modules, &target, &from, (&inner, &alias), shown, seen);
                        found = true;
                    }
                }
            }
            if !found {
                self.lines.insert(format!("use {} (by a macro)", with(shown, new).join("::")));
            }
        }
    }

    fn item(
        &mut self,
        item: &Item,
        path: &[String],
        shown: &[String],
        new: Option<&str>,
        seen: &mut BTreeSet<(String, String)>,
    ) {
        let Some(name) = name_of(item) else { return };
        let (vis, attrs) = match item {
            Item::Const(item) => (&item.vis, &item.attrs),
            Item::Enum(item) => (&item.vis, &item.attrs),
            Item::Fn(item) => (&item.vis, &item.attrs),
            Item::Static(item) => (&item.vis, &item.attrs),
            Item::Struct(item) => (&item.vis, &item.attrs),
            Item::Trait(item) => (&item.vis, &item.attrs),
            Item::Type(item) => (&item.vis, &item.attrs),
            Item::Macro(item) if item.attrs.iter().any(|a| a.path().is_ident("macro_export")) => {
                self.lines.insert(format!("macro {name}"));
                return;
            }
            _ => return,
        };
        if !is_public(vis, attrs) {
            return;
        }
        let full = with(shown, new.unwrap_or(&name)).join("::");
        let is_open = !attrs.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
        let open = if is_open { "" } else { " (non_exhaustive)" };
        let mut is_type = true;
        match item {
            Item::Struct(item) => {
                self.lines.insert(format!("struct {full}{}{open}", text(&item.generics)));
                for field in item.fields.iter().filter(|field| is_public(&field.vis, &field.attrs))
                {
                    let name = field.ident.as_ref().map_or("0".to_owned(), ToString::to_string);
                    self.lines.insert(format!("field {full}.{name}: {}", text(&field.ty)));
                }
            }
            Item::Enum(item) => {
                self.lines.insert(format!("enum {full}{}{open}", text(&item.generics)));
                for variant in &item.variants {
                    let (name, fields) = (&variant.ident, text(&variant.fields));
                    self.lines.insert(format!("variant {full}::{name}{fields}"));
                }
            }
            Item::Trait(item) => {
                self.lines.insert(format!("trait {full}{}", text(&item.generics)));
                for inner in &item.items {
                    let line = match inner {
                        TraitItem::Fn(inner) => {
                            let given = if inner.default.is_some() { " (given)" } else { "" };
                            format!("{}{given}", text(&inner.sig))
                        }
                        TraitItem::Const(inner) => {
                            format!("const {}: {}", inner.ident, text(&inner.ty))
                        }
                        TraitItem::Type(inner) => format!("type {}", inner.ident),
                        _ => continue,
                    };
                    self.lines.insert(format!("of trait {full}: {line}"));
                }
            }
            Item::Type(item) => {
                self.lines.insert(format!("type {full} = {}", text(&item.ty)));
            }
            Item::Fn(item) => {
                is_type = false;
                self.lines.insert(format!("in {}: {}", shown.join("::"), text(&item.sig)));
            }
            Item::Const(item) => {
                is_type = false;
                self.lines.insert(format!("const {full}: {}", text(&item.ty)));
            }
            Item::Static(item) => {
                is_type = false;
                self.lines.insert(format!("static {full}: {}", text(&item.ty)));
            }
            _ => is_type = false,
        }
        // A type that several paths show is one.
        if is_type {
            let place = with(path, &name).join("::");
            self.types += usize::from(!seen.iter().any(|(known, _)| *known == place));
            seen.insert((place, full));
        }
    }

    /// Notes public methods of a type, wherever in the crate they are.
    fn methods(&mut self, modules: &Modules, place: &str, shown: &str) {
        let name = place.rsplit("::").next().unwrap_or_default();
        let home = place.rsplit_once("::").map_or("", |(home, _)| home);
        for (path, items) in modules {
            // The type's own module, or one that is in it or beside it: names are not resolved any further.
            let path = path.join("::");
            if !path.starts_with(home) && !home.starts_with(&path) {
                continue;
            }
            for item in items {
                let Item::Impl(block) = item else { continue };
                if block.trait_.is_some() || !is_of(&block.self_ty, name) {
                    continue;
                }
                for inner in &block.items {
                    match inner {
                        ImplItem::Fn(inner) if is_public(&inner.vis, &inner.attrs) => {
                            self.lines.insert(format!("of {shown}: {}", text(&inner.sig)));
                        }
                        ImplItem::Const(inner) if is_public(&inner.vis, &inner.attrs) => {
                            let ty = text(&inner.ty);
                            self.lines.insert(format!("of {shown}: const {}: {ty}", inner.ident));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn is_of(ty: &syn::Type, name: &str) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == name))
}

fn with(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// Tokens with the blanks that people write.
fn text(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let pairs = [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" :", ":"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("' ", "'"),
        (",)", ")"),
        (",>", ">"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        ("# [", "#["),
        ("* ", "*"),
        ("- >", "->"),
        (" ->", " ->"),
    ];
    pairs.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

fn is_public(vis: &Visibility, attrs: &[Attribute]) -> bool {
    matches!(vis, Visibility::Public(_)) && !is_hidden(attrs)
}

/// True for what documentation does not show, and for tests.
fn is_hidden(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attribute| {
        let words = text(&attribute.meta);
        words.contains("doc(hidden)")
            || words.starts_with("cfg")
                && (words.contains("test)") || words.contains("\"unchecked\""))
                && !words.contains("not(feature")
    })
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        _ => return None,
    })
}

/// The names of a `use`: where from, the name there, and the name here.
fn flatten(tree: &UseTree, from: &mut Vec<String>, names: &mut Vec<(Vec<String>, String, String)>) {
    match tree {
        UseTree::Path(path) => {
            from.push(path.ident.to_string());
            flatten(&path.tree, from, names);
            from.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            names.push((from.clone(), name.clone(), name));
        }
        UseTree::Rename(name) => {
            names.push((from.clone(), name.ident.to_string(), name.rename.to_string()));
        }
        UseTree::Glob(_) => names.push((from.clone(), "*".to_owned(), "*".to_owned())),
        UseTree::Group(group) => {
            group.items.iter().for_each(|inner| flatten(inner, from, names));
        }
    }
}

/// The module of the crate that a path leads to; none for other crates.
fn resolve(modules: &Modules, path: &[String], from: &[String]) -> Option<Vec<String>> {
    let mut place = match from.first().map(String::as_str) {
        Some("crate") => vec![],
        _ => path.to_vec(),
    };
    for word in from {
        match word.as_str() {
            "crate" | "self" => {}
            "super" => drop(place.pop()),
            word => place.push(word.to_owned()),
        }
    }
    modules.contains_key(&place).then_some(place)
}

/// Reads a file, and those of its modules.
fn read(file: &Path, folder: PathBuf, path: Vec<String>, modules: &mut Modules) {
    let Ok(source) = std::fs::read_to_string(file) else { return };
    let parsed = syn::parse_file(&source).expect("compiles");
    note(parsed.items, folder, path, modules);
}

fn note(items: Vec<Item>, folder: PathBuf, path: Vec<String>, modules: &mut Modules) {
    for item in &items {
        let Item::Mod(inner) = item else { continue };
        if is_hidden(&inner.attrs) {
            continue;
        }
        let name = inner.ident.to_string();
        let (below, path) = (folder.join(&name), with(&path, &name));
        match &inner.content {
            Some((_, items)) => note(items.clone(), below, path, modules),
            None => {
                let file = [folder.join(format!("{name}.rs")), below.join("mod.rs")];
                let file = file.iter().find(|file| file.is_file());
                file.iter().for_each(|file| read(file, below.clone(), path.clone(), modules));
            }
        }
    }
    modules.entry(path).or_default().extend(items);
}
