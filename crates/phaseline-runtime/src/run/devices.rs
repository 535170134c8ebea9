//! The devices that a model runs on besides the host.

use super::buffer::BufferFunctions;
use crate::{
    Error, Result,
    artifact::{Device, Signature},
};
use std::ffi::{CStr, c_char, c_int, c_void};

type Open = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type OpenAt = unsafe extern "C" fn(*mut *mut c_void, *mut *const c_char) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;
type StatusString = unsafe extern "C" fn(c_int) -> *const c_char;

/// Open devices, closed when dropped.
#[derive(Default)]
pub(super) struct Devices {
    open: Vec<Handle>,
}

struct Handle {
    target: String,
    address: *mut c_void,
    close: Option<Close>,
    status_string: Option<StatusString>,
    /// Functions for buffers in its memory, if programs have some there.
    buffers: Option<BufferFunctions>,
}

// SAFETY: handles are only used by the executable, which runs one at a time.
unsafe impl Send for Devices {}
// SAFETY: as above.
unsafe impl Sync for Devices {}

impl Devices {
    /// Opens the devices of a model in order.
    ///
    /// # Safety
    /// `symbol` gives addresses of functions with the C types that [`crate::artifact::Device`]
    /// says. They stay valid as long as the devices are open.
    pub(super) unsafe fn open(
        signature: &Signature,
        symbol: &dyn Fn(&str) -> Result<*const c_void>,
    ) -> Result<Self> {
        let mut devices = Self::default();
        for device in &signature.devices {
            let address = |name: &Option<String>| name.as_deref().map(symbol).transpose();
            let (open, close) = (address(&device.open)?, address(&device.close)?);
            let open_at = address(&device.open_at)?;
            let text = address(&device.status_string)?;
            // SAFETY: the caller's contract on the types of the functions.
            let (open, open_at, close, status_string) = unsafe {
                (
                    open.filter(|_| open_at.is_none())
                        .map(|f| std::mem::transmute::<*const c_void, Open>(f)),
                    open_at.map(|f| std::mem::transmute::<*const c_void, OpenAt>(f)),
                    close.map(|f| std::mem::transmute::<*const c_void, Close>(f)),
                    text.map(|f| std::mem::transmute::<*const c_void, StatusString>(f)),
                )
            };
            let target = device.target.clone();
            let bound = device.bound.as_ref();
            // SAFETY: as above.
            let buffers = bound.map(|bound| unsafe { BufferFunctions::find(bound, symbol) });
            let mut handle = Handle {
                target,
                address: std::ptr::null_mut(),
                close: None,
                status_string,
                buffers: buffers.transpose()?,
            };
            if let Some(open) = open {
                // SAFETY: as above.
                let status = unsafe { open(&mut handle.address) };
                if status != 0 {
                    return Err(Error::invalid(format!(
                        "the device of target '{}' cannot be opened: {}",
                        device.target,
                        handle.describe(status)
                    )));
                }
                handle.close = close;
            }
            if let Some(open_at) = open_at {
                let mut region: *const c_char = std::ptr::null();
                // SAFETY: as above; the name of a region lives as long as the code.
                let (status, region) = unsafe {
                    let status = open_at(&mut handle.address, &mut region);
                    let region = (!region.is_null()).then(|| CStr::from_ptr(region));
                    (status, region.map(|name| name.to_string_lossy().into_owned()))
                };
                if status != 0 {
                    return Err(refused(device, region, &handle.describe(status)));
                }
                handle.close = close;
            }
            devices.open.push(handle);
        }
        Ok(devices)
    }

    /// The handles in order.
    pub(super) fn handles(&self) -> Vec<*mut c_void> {
        self.open.iter().map(|handle| handle.address).collect()
    }

    /// The functions that handle buffers in the memory of a device, and its handle.
    pub(super) fn buffers(&self, device: usize) -> Result<(&BufferFunctions, *mut c_void)> {
        let handle = self.open.get(device);
        handle.and_then(|handle| Some((handle.buffers.as_ref()?, handle.address))).ok_or_else(
            || Error::internal("a buffer is in the memory of a device that has none for programs"),
        )
    }

    /// Meaning of a status of one device.
    pub(super) fn describe_one(&self, device: usize, status: i32) -> String {
        self.open
            .get(device)
            .map_or_else(|| format!("status {status}"), |handle| handle.describe(status))
    }

    /// Meaning of a status that a run returned.
    pub(super) fn describe(&self, status: i32) -> String {
        match &self.open[..] {
            [only] => format!("target '{}' returned {}", only.target, only.describe(status)),
            several => {
                let meaning = |handle: &Handle| {
                    Some(format!("'{}': {}", handle.target, handle.text(status)?))
                };
                let known: Vec<String> = several.iter().filter_map(meaning).collect();
                let known = match known.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", known.join("; ")),
                };
                format!("a target returned status {status}{known}")
            }
        }
    }
}

/// The error of a device with blobs that cannot be opened.
fn refused(device: &Device, region: Option<String>, status: &str) -> Error {
    let kind = device.kind.as_deref().unwrap_or_default();
    let what = match region {
        Some(region) => format!("does not load the blob of region '{region}'"),
        None => "cannot be opened".to_owned(),
    };
    Error::invalid(format!(
        "the device of target '{}' (kind '{kind}') {what}: {status}",
        device.target
    ))
}

impl Handle {
    fn describe(&self, status: i32) -> String {
        let text = self.text(status).map_or_else(String::new, |text| format!(" ({text})"));
        format!("status {status}{text}")
    }

    /// The device's text for a status.
    fn text(&self, status: i32) -> Option<String> {
        let text = self.status_string?;
        // SAFETY: the function returns a static string or NULL, as `Device` says.
        unsafe {
            let text = text(status);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        for handle in self.open.iter().rev() {
            if let Some(close) = handle.close {
                // SAFETY: the handle came from the matching open and is not used again.
                unsafe { close(handle.address) };
            }
        }
    }
}
