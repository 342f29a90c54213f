// The C interface from Rust, with nothing but the compiler and libcameo.so.
//
//   rustc -O carve.rs -L PREFIX/lib -l cameo -o carve
//   ./carve net.pt '{"inputs": ["x=f32[batch,6]"]}' net.onnx 6
//
// Exports the archive, simplifies it, saves it, and runs it on one row of 0, 1, 2, ... of so many elements.
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Array {
    name: *const c_char,
    dtype: *const c_char,
    shape: *const i64,
    rank: usize,
    data: *const c_void,
    size: usize,
}

extern "C" {
    fn cameo_last_findings() -> *const c_char;
    fn cameo_load(path: *const c_char, out: *mut *mut c_void) -> c_int;
    fn cameo_export(archive: *const c_void, settings: *const c_char, out: *mut *mut c_void) -> c_int;
    fn cameo_simplify(model: *const c_void, settings: *const c_char, out: *mut *mut c_void, report: *mut *mut c_char) -> c_int;
    fn cameo_save_checked(model: *const c_void, path: *const c_char, settings: *const c_char, lines: *mut *mut c_char) -> c_int;
    fn cameo_release_model(model: *mut c_void);
    fn cameo_release_text(text: *mut c_char);
    fn cameo_open_session(model: *const c_void, settings: *const c_char, out: *mut *mut c_void) -> c_int;
    fn cameo_release_session(session: *mut c_void);
    fn cameo_run(session: *const c_void, inputs: *const Array, count: usize, out: *mut *mut c_void) -> c_int;
    fn cameo_result_count(results: *const c_void) -> usize;
    fn cameo_result(results: *const c_void, i: usize, out: *mut Array) -> c_int;
    fn cameo_release_results(results: *mut c_void);
}

type Answer<T> = Result<T, String>;

fn text(s: &str) -> CString {
    CString::new(s).expect("a text without zeros")
}

// What went wrong, as JSON lines.
fn checked(status: c_int) -> Answer<()> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(cameo_last_findings()) }.to_string_lossy().into_owned())
}

struct Model(*mut c_void);
impl Drop for Model {
    fn drop(&mut self) {
        unsafe { cameo_release_model(self.0) }
    }
}

impl Model {
    fn made(make: impl FnOnce(*mut *mut c_void) -> c_int) -> Answer<Model> {
        let mut out = null_mut();
        checked(make(&mut out))?;
        Ok(Model(out))
    }
    fn load(path: &str) -> Answer<Model> {
        Model::made(|out| unsafe { cameo_load(text(path).as_ptr(), out) })
    }
    fn export(&self, settings: &str) -> Answer<Model> {
        Model::made(|out| unsafe { cameo_export(self.0, text(settings).as_ptr(), out) })
    }
    fn simplified(&self) -> Answer<Model> {
        Model::made(|out| unsafe { cameo_simplify(self.0, text("{\"check\": 1}").as_ptr(), out, null_mut()) })
    }
    fn save(&self, path: &str) -> Answer<()> {
        let mut notes = null_mut();
        checked(unsafe { cameo_save_checked(self.0, text(path).as_ptr(), null(), &mut notes) })?;
        unsafe { cameo_release_text(notes) }
        Ok(())
    }
}

fn run(model: &Model, row: &[f32]) -> Answer<Vec<f32>> {
    let (mut session, mut results) = (null_mut(), null_mut());
    checked(unsafe { cameo_open_session(model.0, null(), &mut session) })?;
    let (dtype, shape) = (text("f32"), [1, row.len() as i64]);
    let input = Array { name: null(), dtype: dtype.as_ptr(), shape: shape.as_ptr(), rank: 2, data: row.as_ptr().cast(), size: std::mem::size_of_val(row) };
    let status = checked(unsafe { cameo_run(session, &input, 1, &mut results) });
    let mut numbers = Vec::new();
    if status.is_ok() && unsafe { cameo_result_count(results) } > 0 {
        let mut y = Array { name: null(), dtype: null(), shape: null(), rank: 0, data: null(), size: 0 };
        checked(unsafe { cameo_result(results, 0, &mut y) })?;
        numbers.extend_from_slice(unsafe { std::slice::from_raw_parts(y.data.cast::<f32>(), y.size / 4) });
    }
    unsafe {
        cameo_release_results(results);
        cameo_release_session(session);
    }
    status.map(|_| numbers)
}

fn main() -> Answer<()> {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 5 {
        return Err("usage: carve ARCHIVE SETTINGS OUT.onnx ELEMENTS".into());
    }
    let small = Model::load(&words[1])?.export(&words[2])?.simplified()?;
    small.save(&words[3])?;
    let count: usize = words[4].parse().map_err(|_| "ELEMENTS is a number")?;
    let row: Vec<f32> = (0..count).map(|i| i as f32).collect();
    println!("{:?}", run(&small, &row)?);
    // A mistake is a finding, not a crash.
    assert!(Model::load("no such file.onnx").err().unwrap().contains("file.missing"));
    Ok(())
}
