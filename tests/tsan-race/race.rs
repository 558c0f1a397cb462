//! A race on purpose: the thread sanitizer must find it, or it was not there to see (`make tsan`).

static mut COUNT: u64 = 0;

fn main() {
    let threads = [0, 1].map(|_| {
        std::thread::spawn(|| {
            for _ in 0..1000 {
                // SAFETY: there is none; that is the point.
                unsafe { COUNT += 1 };
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
