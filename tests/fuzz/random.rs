//! Random numbers that are the same on every machine, and damage to bytes.

/// Marsaglia's xorshift, seeded through a multiplication that spreads neighbouring seeds.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A number at which programs go wrong, or one near `near`.
    pub fn number(&mut self, near: i64) -> i64 {
        const ODD: [i64; 22] = [
            0,
            1,
            -1,
            2,
            3,
            7,
            8,
            16,
            64,
            127,
            128,
            255,
            256,
            -128,
            1000,
            65_535,
            65_536,
            2_147_483_647,
            -2_147_483_648,
            4_294_967_296,
            i64::MAX,
            i64::MIN,
        ];
        match self.below(4) {
            0 => near.wrapping_add(self.below(7) as i64 - 3),
            1 => near.wrapping_mul(self.below(5) as i64 - 1),
            _ => *self.pick(&ODD),
        }
    }

    /// A float at which programs go wrong.
    pub fn float(&mut self) -> f32 {
        const ODD: [f32; 12] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            1e30,
        ];
        *self.pick(&ODD)
    }

    /// One to four pieces of damage. `alphabet` has the bytes to write.
    pub fn damage(&mut self, good: &[u8], alphabet: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let length = 1 + self.below(16);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 if at < bytes.len() => bytes[at] = *self.pick(alphabet),
                3 => bytes.insert(at, *self.pick(alphabet)),
                4 => drop(bytes.drain(at..(at + length).min(bytes.len()))),
                _ => {
                    let from = self.below(bytes.len());
                    let copy = bytes[from..(from + length).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        bytes
    }

    /// Damage with any bytes.
    pub fn noise(&mut self, good: &[u8]) -> Vec<u8> {
        let any: Vec<u8> = (0..=255).collect();
        self.damage(good, &any)
    }
}
