//! Results to measure with: seven shapes, every one different, made by a small generator with a fixed seed.

/// The shapes of results.
pub const SHAPES: [&str; 7] = ["text", "dual", "structured", "prose", "image", "blocks", "meta"];

/// A generator of numbers that is the same on every run (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    pub fn word(&mut self) -> String {
        (0..3 + self.below(8)).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// A row of a listing, as tools that list things return them.
    fn row(&mut self) -> String {
        format!(
            r#"{{"id":{},"name":"{}","title":"{}","open":{},"score":{}.{},"tags":["{}","{}"]}}"#,
            self.below(100_000),
            self.word(),
            self.words(4),
            self.below(2) == 0,
            self.below(100),
            // No trailing zero: a tree would spell it otherwise.
            self.below(9) + 1,
            self.word(),
            self.word()
        )
    }

    /// A listing of about so many bytes.
    pub fn rows(&mut self, bytes: usize) -> String {
        let mut rows = Vec::new();
        let mut length = 14;
        while length < bytes || rows.is_empty() {
            let row = self.row();
            length += row.len() + 1;
            rows.push(row);
        }
        format!(r#"{{"items":[{}]}}"#, rows.join(","))
    }

    /// Words in sentences, as they stand in a JSON string.
    pub fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let count = 6 + self.below(9);
            text.push_str(&self.words(count));
            text.push_str(if self.below(4) == 0 { ".\\n" } else { ", " });
        }
        text
    }

    fn base64(&mut self, bytes: usize) -> String {
        const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..bytes / 4 * 4).map(|_| char::from(SYMBOLS[self.below(64)])).collect()
    }
}

/// A result of about `bytes` bytes.
pub fn result(shape: &str, bytes: usize, random: &mut Random) -> Vec<u8> {
    let block = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let result = match shape {
        "text" => format!(r#"{{"content":[{}]}}"#, block(&random.prose(bytes.saturating_sub(44)))),
        "dual" => {
            let value = random.rows(bytes.saturating_sub(80) * 10 / 23);
            let text = value.replace('"', "\\\"");
            format!(r#"{{"content":[{}],"structuredContent":{value}}}"#, block(&text))
        }
        "structured" => {
            format!(r#"{{"content":[],"structuredContent":{}}}"#, random.rows(bytes.saturating_sub(40)))
        }
        "prose" => {
            let value = random.rows(bytes.saturating_sub(80) / 2);
            format!(r#"{{"content":[{}],"structuredContent":{value}}}"#, block(&random.prose(bytes / 2 - 40)))
        }
        "image" => format!(
            r#"{{"content":[{{"type":"image","data":"{}","mimeType":"image/png"}}]}}"#,
            random.base64(bytes.saturating_sub(70))
        ),
        "blocks" => {
            let mut blocks = Vec::new();
            let mut length = 20;
            while length < bytes {
                let text = random.words(4);
                let one =
                    format!(r#"{{"type":"text","text":"{text}","annotations":{{"priority":0.{}}}}}"#, random.below(10));
                length += one.len() + 1;
                blocks.push(one);
            }
            format!(r#"{{"content":[{}]}}"#, blocks.join(","))
        }
        "meta" => {
            let mut members = Vec::new();
            let mut length = 60;
            while length < bytes {
                let member = format!(
                    r#""com.example.{}/{}":{{"v":{},"s":"{}"}}"#,
                    random.word(),
                    random.word(),
                    random.below(1000),
                    random.word()
                );
                length += member.len() + 1;
                members.push(member);
            }
            format!(
                r#"{{"content":[{}],"_meta":{{"durationMs":{},{}}}}}"#,
                block("ok"),
                random.below(900),
                members.join(",")
            )
        }
        other => unreachable!("no shape {other}"),
    };
    result.into_bytes()
}

/// `count` different results of a shape, not in the order in which they lie in memory.
pub fn results(shape: &str, bytes: usize, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(bytes as u64 ^ 0x6d63_702d_7365_6c65);
    let mut results: Vec<Vec<u8>> = (0..count).map(|_| result(shape, bytes, &mut random)).collect();
    random.shuffle(&mut results);
    results
}
