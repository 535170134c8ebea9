use super::{About, File, arduino, cmake, rust, zephyr};
use crate::{
    artifact::{Device, Port, Signature},
    tensor::DType,
};

fn signature() -> Signature {
    let port = |name: &str, shape: &[usize]| Port {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: shape.to_vec(),
        place: None,
    };
    Signature {
        states: vec![],
        bounds: None,
        name: "net".to_owned(),
        inputs: vec![port("type", &[2, 3]), port("a b", &[])],
        fixed: vec![],
        outputs: vec![port("y", &[4])],
        arena_bytes: 128,
        arena_lower_bound: 0,
        arena_peak: String::new(),
        constants_bytes: 8,
        weights: None,
        pools: vec![],
        devices: vec![],
        operations: vec![],
    }
}

fn about<'a>(signature: &'a Signature, triple: &'a str, link: &'a [String]) -> About<'a> {
    About { signature, triple, cpu: "cortex-m4", link, shared: triple.contains("linux") }
}

fn text(files: &[File], path: &str) -> String {
    files.iter().find(|file| file.path == path).map(|file| file.text.clone()).unwrap_or_default()
}

#[test]
fn words_of_linkers_stay_what_they_are_in_each_language() {
    let (signature, link) = (signature(), ["-L/opt/my lib".to_owned(), "-lvendor".to_owned()]);
    let about = about(&signature, "x86_64-unknown-linux-gnu", &link);
    let files = cmake::files(&about);
    let config = text(&files, "share/cmake/net/netConfig.cmake");
    assert!(config.contains("INTERFACE_LINK_LIBRARIES \"-L/opt/my lib;-lvendor;m\""), "{config}");
    assert!(config.contains("net::shared"), "{config}");
    let pc = text(&files, "share/pkgconfig/net.pc");
    assert!(pc.contains("-L/opt/my\\ lib -lvendor -lm\n"), "{pc}");
    let build = text(&rust::files(&about).unwrap(), "build.rs");
    assert!(build.contains("rustc-link-search=native=/opt/my lib\""), "{build}");
    assert!(build.contains("rustc-link-lib=vendor\""), "{build}");
}

#[test]
fn a_crate_has_types_of_shapes_and_names_that_rust_allows() {
    let mut signature = signature();
    let library = text(&rust::files(&about(&signature, "", &[])).unwrap(), "src/lib.rs");
    assert!(library.contains("pub type Input0 = [[f32; 3]; 2];"), "{library}");
    assert!(library.contains("pub type Input1 = f32;"), "{library}");
    assert!(library.contains("pub type_: &'a Input0,"), "{library}");
    assert!(library.contains("pub y: &'a mut Output0,"), "{library}");
    signature.devices = vec![Device {
        target: "npu".to_owned(),
        open: Some("npu_open".to_owned()),
        close: Some("npu_close".to_owned()),
        ..Device::default()
    }];
    let library = text(&rust::files(&about(&signature, "", &[])).unwrap(), "src/lib.rs");
    assert!(library.contains("fn npu_open(device: *mut *mut c_void) -> i32;"), "{library}");
    signature.states = vec![[0, 0]];
    let error = rust::files(&about(&signature, "", &[])).err().unwrap().to_string();
    assert!(error.contains("--state"), "{error}");
}

#[test]
fn microcontrollers_have_libraries_of_arduino_and_modules_of_zephyr() {
    let signature = signature();
    let bare = about(&signature, "thumbv7em-none-unknown-eabihf", &[]);
    let files = arduino::files(&bare).unwrap();
    assert!(text(&files, "library.properties").contains("ldflags=-lnet\n"));
    assert!(text(&files, "src/net/net.h").contains("net_run"));
    assert_eq!(arduino::library(&bare).path, "src/cortex-m4/libnet.a");
    let error = arduino::files(&about(&signature, "x86_64-unknown-linux-gnu", &[]));
    assert!(error.err().unwrap().to_string().contains("microcontroller"));
    assert!(text(&zephyr::files(&bare), "zephyr/CMakeLists.txt").contains("libnet.a"));
}
