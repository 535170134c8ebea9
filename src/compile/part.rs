//! The code of one target's module: generated here, or what the target's hook gave.

use crate::{
    Compiled, Error, Result, Session,
    artifact::{Artifact, ArtifactKind, ExtraFile, Object, files, machines},
    codegen::{
        self, Given,
        c::{self, inlined::Inlined},
        symbols,
    },
    ir::{
        self, Op, edit,
        names::{GENERATED, TARGET},
    },
    package,
    phase::HookPoint,
    targets::{CodegenKind, TargetInstance},
};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;

/// Inputs that the code of all targets of a compile shares.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    /// Name of the model.
    pub name: &'a str,
    /// The C compiler.
    pub cc: &'a str,
    /// Target of the rest of the model.
    pub host: Option<&'a TargetInstance>,
    /// All targets of the compile.
    pub targets: &'a [TargetInstance],
    /// Settings for devices' C beyond their manifests.
    pub devices: Option<&'a c::compile::DeviceBuild>,
}

/// Makes object files of `part`, the module of `target`, and adds all that belongs to it. Gives the blobs
/// that its device is opened with, by their symbols.
pub fn generate(
    session: &Session,
    part: Op<'_>,
    target: &TargetInstance,
    model: Model<'_>,
    compiled: &mut Compiled,
) -> Result<Vec<(String, Vec<u8>)>> {
    let artifacts = files::recorded(part)?;
    let mut options = c_options(target, model, &artifacts)?;
    let is_c = target.is_host() && target.kind.codegen.kind == CodegenKind::C;
    options.inlined = inlined(part, model)?;
    if is_c {
        c::inlined::check_together(&options.inlined)?;
        add_inlined(target, &options.inlined, compiled);
    }
    options.interface = is_c.then(|| package::interface(&compiled.signature));
    let devices = &compiled.signature.devices;
    let device = devices.iter().find(|device| device.target == target.id);
    let opening =
        device.map(|device| c::opening::opening(target, model.name, device, part)).transpose()?;
    let opening = opening.unwrap_or_default();
    options.sources.extend(opening.sources.iter().cloned());
    let before = compiled.objects.len();
    let (mut kept, mut sources) = match generated(part) {
        // The default has what a hook left.
        Some(mut functions) if has_rest(part) => {
            let given = (&options, &*artifacts);
            let (own, sources) = by_generator(session, part, target, given, compiled)?;
            check_defined(target, &functions, compiled.objects.get(before..).unwrap_or_default())?;
            let own = compiled.objects.get(before..).unwrap_or_default().iter().take(own);
            let defined = own.map(symbols::definitions).collect::<Result<Vec<_>>>()?;
            functions.extend(defined.concat());
            (functions, sources)
        }
        Some(functions) => {
            from_hook(target, &functions, (&options, &artifacts), compiled)?;
            (functions, vec![])
        }
        None => {
            let given = (&options, &*artifacts);
            let (own, sources) = by_generator(session, part, target, given, compiled)?;
            let own = compiled.objects.get(before..).unwrap_or_default().iter().take(own);
            let defined = own.map(symbols::definitions).collect::<Result<Vec<_>>>()?;
            (defined.concat(), sources)
        }
    };
    kept.extend(opening.functions);
    for (name, text) in opening.sources {
        let path = format!("src/{name}");
        compiled.files.push(c_file(target, path.clone(), text));
        sources.push(path);
    }
    let device = &target.kind.codegen;
    let roots = [&device.open, &device.close, &device.status_string].into_iter().flatten();
    let roots: Vec<&str> = roots.map(String::as_str).collect();
    let own = compiled.objects.get(before..).unwrap_or_default();
    let vendor = c::vendor::objects(&options, own, &roots)?;
    compiled.objects.extend(vendor);
    check_functions(target, compiled.objects.get(before..).unwrap_or_default())?;
    let kept = kept.into_iter().collect();
    separate((target, model), (&options, &sources), (&kept, before), compiled)?;
    add_files(target, artifacts, compiled)?;
    Ok(opening.blobs)
}

/// The bodies of other targets' headers that a host's code has.
fn inlined(part: Op<'_>, model: Model<'_>) -> Result<Vec<Inlined>> {
    let all = c::inlined::of(part, model.name).into_iter().map(|(id, header)| {
        let target = model.targets.iter().find(|target| target.id == id).ok_or_else(|| {
            Error::invalid(format!(
                "the host's code has calls of '{id}', which is no target of this compile"
            ))
        })?;
        let mut options = c::target::options(target, None, model.name, model.cc)?;
        if let Some(build) = model.devices {
            options.replace(&build.replaced);
        }
        let c::COptions { headers, include_dirs, flags, .. } = options;
        let clang = target.clang().to_owned();
        Ok(Inlined { target: id, clang, header, headers, include_dirs, flags })
    });
    all.collect()
}

/// Adds the headers with functions around such bodies, which the C of a host includes.
fn add_inlined(target: &TargetInstance, all: &[Inlined], compiled: &mut Compiled) {
    for Inlined { header: (name, text), .. } in all {
        let file = c_file(target, format!("src/{name}"), text.clone());
        compiled.files.push(ExtraFile { kind: ArtifactKind::Header, ..file });
    }
}

/// Adds what a package has of the target beside its code: artifacts of hooks, libraries, and flags of
/// the linker.
fn add_files(
    target: &TargetInstance,
    artifacts: Vec<Artifact>,
    compiled: &mut Compiled,
) -> Result<()> {
    for artifact in artifacts {
        compiled.files.push(ExtraFile {
            path: format!("artifacts/{}/{}", target.id, artifact.name),
            kind: artifact.kind,
            target: Some(target.id.clone()),
            bytes: artifact.bytes,
        });
    }
    for file in target.libraries()? {
        let kind = ArtifactKind::of_library(&file.path, &file.bytes);
        let target = Some(target.id.clone());
        let same = |known: &ExtraFile| known.path == file.path && known.bytes == file.bytes;
        // Two targets may carry one library.
        if !compiled.files.iter().any(same) {
            compiled.files.push(ExtraFile { path: file.path, kind, target, bytes: file.bytes });
        }
    }
    for flag in &target.codegen()?.link_flags {
        if !compiled.link.contains(flag) {
            compiled.link.push(flag.clone());
        }
    }
    Ok(())
}

/// Flags of the linker that bring no vendor's library.
const PLAIN_FLAGS: [&str; 3] = ["-lm", "-lpthread", "-pthread"];

/// True if a target's linker flags name a library.
pub fn links(target: &TargetInstance) -> Result<bool> {
    let flags = target.codegen()?.link_flags;
    let names = |flag: &String| !flag.starts_with("-L") && !PLAIN_FLAGS.contains(&flag.as_str());
    Ok(flags.iter().any(names))
}

/// Fails if a function that the manifest names by itself is nowhere in the target's code. A library may
/// have it, where flags of the linker name one.
fn check_functions(target: &TargetInstance, own: &[Object]) -> Result<()> {
    if links(target)? {
        return Ok(());
    }
    let mut defined = BTreeSet::new();
    for object in own {
        defined.extend(symbols::definitions(object)?);
    }
    for (key, function) in target.kind.functions() {
        if !defined.contains(function) {
            return Err(Error::invalid(format!(
                "target '{}': {}: {key} is '{function}', which none of its sources defines: name a \
                 function of theirs, or add the file that has it to `sources`",
                target.id, target.kind.manifest
            )));
        }
    }
    Ok(())
}

/// Adds a header with the names that functions of libraries have in the C of a host, for those who
/// compile it by hand.
pub fn add_library_names(
    names: &symbols::Renamed,
    host: Option<&TargetInstance>,
    model: &str,
    compiled: &mut Compiled,
) {
    let host = host.filter(|host| host.kind.codegen.kind == CodegenKind::C);
    let Some(host) = host.filter(|_| !names.is_empty()) else { return };
    let name = format!("src/{model}_libraries.h");
    let command = format!("cc -std=c11 -O2 -include {name} -c src/{model}_{}.c", host.id);
    let header = symbols::header(names, &command);
    let file = ExtraFile { kind: ArtifactKind::Header, ..c_file(host, name, header) };
    compiled.files.push(file);
}

/// The C of all targets that have generated C; of the module itself if it is not divided.
pub fn c_text(module: Op<'_>, targets: &[TargetInstance]) -> Result<String> {
    let parts = ir::ops_of(module).into_iter();
    let parts: Vec<_> = parts.filter(|op| ir::op_name(*op) == "builtin.module").collect();
    if parts.is_empty() {
        return c::compile::text(module);
    }
    let mut texts = vec![];
    for part in parts.into_iter().filter(|part| generated(*part).is_none() || has_rest(*part)) {
        let id = ir::attr_str(part, TARGET).unwrap_or_default();
        if let Some(target) = targets.iter().find(|target| target.id == id) {
            texts.extend(codegen::generator(target.kind.codegen.kind).text(part)?);
        }
    }
    if texts.is_empty() {
        return Err(Error::invalid(
            "no target of this compile has generated C; `phaseline targets` says which have",
        ));
    }
    Ok(texts.join("\n"))
}

/// True if a target's module has functions whose code is not there yet.
fn has_rest(part: Op<'_>) -> bool {
    ir::func::functions(part).into_iter().any(|function| edit::entry_block(function).is_some())
}

/// The functions that the hook `tir-to-runtime` took over, if it did.
fn generated(part: Op<'_>) -> Option<Vec<String>> {
    let list = part.attribute(GENERATED).ok()?;
    Some(edit::array(list).into_iter().filter_map(edit::string).collect())
}

/// Options of the C compiler, and artifacts of hooks.
type FromHook<'a> = (&'a c::COptions, &'a [Artifact]);

/// Has the target's generator make the code. Returns the number of objects of the module, and the
/// paths of the C among it.
fn by_generator(
    session: &Session,
    part: Op<'_>,
    target: &TargetInstance,
    (options, artifacts): FromHook<'_>,
    compiled: &mut Compiled,
) -> Result<(usize, Vec<String>)> {
    let generator = codegen::generator(target.kind.codegen.kind);
    let made = generator.generate(session, part, &Given { target, options })?;
    let mut paths = vec![];
    for (name, text) in made.sources {
        let path = format!("src/{name}");
        let kind = ArtifactKind::of_file(&name, text.as_bytes());
        compiled.files.push(ExtraFile { kind, ..c_file(target, path.clone(), text) });
        if kind == ArtifactKind::CSource {
            paths.push(path);
        }
    }
    compiled.objects.extend(made.objects);
    compiled.objects.extend(objects(artifacts));
    if let Some(made) = made.machine {
        let known = std::mem::take(&mut compiled.machine);
        if made.decides || known.triple.is_empty() {
            compiled.cc = made.cc;
        }
        compiled.machine = machines::joined(made.machine, &known)?;
    }
    Ok((made.own, paths))
}

/// Takes what the hook made, and checks that it defines what the rest of the model calls.
fn from_hook(
    target: &TargetInstance,
    functions: &[String],
    given: FromHook<'_>,
    compiled: &mut Compiled,
) -> Result<()> {
    let before = compiled.objects.len();
    link_artifacts(given, compiled)?;
    check_defined(target, functions, compiled.objects.get(before..).unwrap_or_default())
}

/// Checks that objects define the functions that a hook took.
fn check_defined(target: &TargetInstance, functions: &[String], objects: &[Object]) -> Result<()> {
    let mut defined = BTreeSet::new();
    for object in objects {
        defined.extend(symbols::definitions(object).map_err(|reason| {
            let point = HookPoint::TirToRuntime;
            Error::invalid(format!("target '{}': hook {point}: {reason}", target.id))
        })?);
    }
    let missing: Vec<_> = functions.iter().filter(|name| !defined.contains(*name)).collect();
    if let Some(first) = missing.first() {
        return Err(Error::invalid(format!(
            "target '{}': hook {} gave artifacts in which no object or C source defines '{first}'{}, \
             which the model calls",
            target.id,
            HookPoint::TirToRuntime,
            match missing.len() {
                1 => String::new(),
                more => format!(" and {} more", more - 1),
            }
        )));
    }
    Ok(())
}

/// Compiles the sources of the manifest and those among the artifacts, and adds the objects.
fn link_artifacts((options, artifacts): FromHook<'_>, compiled: &mut Compiled) -> Result<()> {
    compiled.objects.extend(c::compile::sources(options)?);
    compiled.objects.extend(objects(artifacts));
    Ok(())
}

/// Gives what the objects of the target define, those from `before` on, names of its own, also
/// where the signature names them, and adds the manifest's C to the package.
fn separate(
    (target, model): (&TargetInstance, Model<'_>),
    (options, generated): (&c::COptions, &[String]),
    (kept, before): (&BTreeSet<String>, usize),
    compiled: &mut Compiled,
) -> Result<()> {
    let id = &target.id;
    let (earlier, own) = compiled.objects.split_at_mut(before);
    for object in own.iter_mut() {
        // Objects are members of one library and files of one folder.
        if !object.name.starts_with(&options.name) {
            object.name = format!("{}_{}", options.name, object.name.replace('/', "_"));
        }
    }
    let names = symbols::separate(own, (model.name, id), kept, earlier)?;
    for device in compiled.signature.devices.iter_mut().filter(|device| device.target == *id) {
        let functions = [&mut device.open, &mut device.close, &mut device.status_string];
        for function in functions.into_iter().flatten() {
            if let Some(name) = names.get(function) {
                name.clone_into(function);
            }
        }
    }
    let codegen = target.codegen()?;
    let folder = format!("src/{id}");
    let headers = options.headers.iter().take(codegen.headers.len());
    let is_text = |name: &&String| !c::vendor::is_binary(name);
    let texts = codegen.sources.iter().filter(is_text);
    let sources = options.sources.iter().take(texts.clone().count());
    let files = headers.map(|file| (file, ArtifactKind::Header));
    let source = |file: &'_ (String, String)| match c::compile::is_assembler(&file.0) {
        true => ArtifactKind::Assembler,
        false => ArtifactKind::CSource,
    };
    for ((name, text), kind) in files.chain(sources.map(|file| (file, source(file)))) {
        let file = ExtraFile { kind, ..c_file(target, format!("{folder}/{name}"), text.clone()) };
        // A manifest may name a file twice.
        if !compiled.files.contains(&file) {
            compiled.files.push(file);
        }
    }
    let has_c = !generated.is_empty() || texts.clone().next().is_some();
    if !names.is_empty() && has_c {
        let name = format!("src/{}_symbols.h", options.name);
        // `#pragma redefine_extname` is for C; the library has what else there is.
        let texts = texts.filter(|name| !c::compile::is_assembler(name));
        let own = texts.map(|name| format!("{folder}/{name}"));
        let sources: Vec<_> = generated.iter().cloned().chain(own).collect();
        let header = symbols::header(&names, &by_hand(target, options, &sources, &name));
        let file = ExtraFile { kind: ArtifactKind::Header, ..c_file(target, name, header) };
        compiled.files.push(file);
    }
    Ok(())
}

/// The command that compiles the C of a target in the package's folder.
fn by_hand(
    target: &TargetInstance,
    options: &c::COptions,
    sources: &[String],
    names: &str,
) -> String {
    let id = &target.id;
    let tool =
        options.tool.as_ref().map_or_else(|| options.compiler.clone(), c::tool::Tool::to_string);
    let mut words = vec![if tool.is_empty() { "cc".to_owned() } else { tool }];
    words.extend(["-std=c11", "-O2"].map(str::to_owned));
    words.extend(options.flags.iter().cloned());
    words.extend([format!("-Isrc/{id}"), format!("-include {names}"), "-c".to_owned()]);
    words.extend(sources.iter().cloned());
    words.join(" ")
}

/// Options of the C compiler for the target, with the sources and headers of artifacts.
fn c_options(
    target: &TargetInstance,
    model: Model<'_>,
    artifacts: &[Artifact],
) -> Result<c::COptions> {
    let mut options = c::target::options(target, model.host, model.name, model.cc)?;
    if let Some(build) = model.devices.filter(|_| !target.is_host()) {
        options.flags.extend(build.flags.iter().cloned());
        options.cache = Some(build.objects.clone());
        options.replace(&build.replaced);
    }
    let text = |artifact: &Artifact| {
        let text = String::from_utf8_lossy(&artifact.bytes).into_owned();
        (artifact.name.clone(), text)
    };
    let of_kind = |kind| artifacts.iter().filter(move |artifact| artifact.kind == kind);
    options.sources.extend(of_kind(ArtifactKind::CSource).map(text));
    options.sources.extend(of_kind(ArtifactKind::Assembler).map(text));
    let archives = of_kind(ArtifactKind::StaticLibrary);
    options.binaries.extend(archives.map(|file| (file.name.clone(), file.bytes.clone())));
    options.headers.extend(of_kind(ArtifactKind::Header).map(text));
    Ok(options)
}

fn objects(artifacts: &[Artifact]) -> impl Iterator<Item = Object> {
    artifacts
        .iter()
        .filter(|artifact| artifact.kind == ArtifactKind::Object)
        .map(|artifact| Object { name: artifact.name.clone(), bytes: artifact.bytes.clone() })
}

fn c_file(target: &TargetInstance, path: String, text: String) -> ExtraFile {
    ExtraFile {
        path,
        kind: ArtifactKind::CSource,
        target: Some(target.id.clone()),
        bytes: text.into_bytes(),
    }
}
