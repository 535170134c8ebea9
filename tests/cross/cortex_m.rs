//! Runs the crate of a model on a Cortex-M without an operating system. The bits of its numbers go to the debugger.

#![no_std]
#![no_main]

use core::{arch::asm, mem::transmute, panic::PanicInfo};

/// The input, whose bytes tests/cross.rs writes.
static INPUT: net::Input0 =
    unsafe { transmute(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/input.bin"))) };

/// Vector table: words that the processor reads at address 0.
#[repr(C)]
struct Vectors {
    stack: *const u8,
    reset: extern "C" fn() -> !,
    faults: [extern "C" fn() -> !; 5],
}

// SAFETY: nothing changes it.
unsafe impl Sync for Vectors {}

extern "C" {
    static stack_top: u8;
}

#[used]
#[link_section = ".vectors"]
static VECTORS: Vectors =
    Vectors { stack: &raw const stack_top, reset: _start, faults: [fault; 5] };

/// A call of the debugger.
fn call(number: usize, argument: usize) {
    // SAFETY: QEMU answers, and changes the first register at most.
    unsafe {
        asm!("bkpt 0xab", inout("r0") number => _, in("r1") argument, options(nostack));
    }
}

fn write(text: &[u8]) {
    assert!(text.ends_with(b"\0"));
    call(4, text.as_ptr() as usize);
}

fn end(text: &[u8]) -> ! {
    write(text);
    // The end of the program, as the application wants it.
    call(0x18, 0x20026);
    loop {}
}

extern "C" fn fault() -> ! {
    end(b"FAULT\n\0")
}

#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    end(b"PANIC\n\0")
}

/// Function of C that the model calls: rounds to an integer, ties to even.
#[no_mangle]
extern "C" fn rintf(x: f32) -> f32 {
    let whole = 8388608_f32.copysign(x);
    if x.abs() < 8388608.0 { (x + whole) - whole } else { x }
}

#[no_mangle]
extern "C" fn _start() -> ! {
    static mut ARENA: net::Arena = net::Arena::new();
    static mut OUTPUT: net::Output0 = [[0.0; 10]; 1];
    // SAFETY: this runs once, on the one thread that there is.
    let (arena, output) = unsafe { (&mut *(&raw mut ARENA), &mut *(&raw mut OUTPUT)) };
    if net::run(arena, &net::Inputs { input: &INPUT }, &mut net::Outputs { gemm_11_0: output })
        .is_err()
    {
        end(b"STATUS\n\0");
    }
    for x in output.iter().flatten() {
        let mut text = *b"00000000\n\0";
        for (index, digit) in text[..8].iter_mut().enumerate() {
            let nibble = x.to_bits() >> (28 - 4 * index) & 15;
            *digit = b"0123456789abcdef"[nibble as usize];
        }
        write(&text);
    }
    end(b"END\n\0")
}
