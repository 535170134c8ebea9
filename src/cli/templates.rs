//! The templates of new targets: folders of files in `new_target/`, which `build.rs` embeds. A
//! folder more there is a template more.

use crate::{Error, Result, error::suggestion};

include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// The file with the line that says what a template is for; it is not written.
const ABOUT: &str = "about.txt";

/// A small target that works, of one style.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Name for `--template`.
    pub name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

impl Template {
    /// All templates.
    pub fn all() -> impl Iterator<Item = Self> {
        EMBEDDED.iter().map(|&(name, files)| Self { name, files })
    }

    /// The template of that name.
    pub fn find(name: &str) -> Result<Self> {
        let found = Self::all().find(|template| template.name == name);
        found.ok_or_else(|| {
            let known = Self::all().map(|template| template.name);
            Error::invalid(format!(
                "--template: '{name}' is none of those that `phaseline new-target --help` lists{}",
                suggestion(name, known)
            ))
        })
    }

    /// Purpose, in one line.
    pub fn about(self) -> &'static str {
        let file = self.files.iter().find(|(name, _)| *name == ABOUT);
        file.map_or("", |(_, text)| text.trim_end())
    }

    /// Path and text of the files of a target of that name.
    pub fn fill(self, name: &str) -> impl Iterator<Item = (String, String)> {
        let fill = move |text: &str| text.replace("@NAME@", name).replace("@C@", &c_name(name));
        let written = self.files.iter().filter(|(file, _)| *file != ABOUT);
        written.map(move |(file, text)| (fill(file), fill(text)))
    }
}

/// A target's name, as C has it.
pub fn c_name(name: &str) -> String {
    name.replace('-', "_")
}

/// The end of the help of `new-target`.
pub fn help() -> String {
    let lines = Template::all().map(|one| format!("\n  {:<13} {}", one.name, one.about()));
    format!(
        "Templates:{}\n\nExamples:\n  \
         phaseline new-target my-npu my-npu && phaseline check-target my-npu\n  \
         phaseline new-target my-npu my-npu --template scratchpad && sh my-npu/test.sh",
        lines.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_complete() {
        assert!(Template::find("call").is_ok());
        for template in Template::all() {
            let files: Vec<_> = template.fill("my-npu").collect();
            for wanted in
                ["target.toml", "README.md", "test.sh", "net.mlir", ".github/workflows/check.yml"]
            {
                assert!(
                    files.iter().any(|(name, _)| name == wanted),
                    "{}: {wanted}",
                    template.name
                );
            }
            let about = template.about();
            assert!(!about.is_empty() && about.lines().count() == 1, "{}", template.name);
            for (name, text) in &files {
                assert!(!text.contains("@NAME@") && !text.contains("@C@"), "{name}");
                assert!(text.lines().count() < 160, "{}: {name} is long", template.name);
            }
        }
    }

    #[test]
    fn an_unknown_template_names_the_others() {
        let message = Template::find("hooks-in-forth").expect_err("unknown").to_string();
        assert!(message.contains("call, engine, kernels"), "{message}");
        let message = Template::find("scratch-pad").expect_err("unknown").to_string();
        assert!(message.contains("did you mean 'scratchpad'"), "{message}");
    }
}
