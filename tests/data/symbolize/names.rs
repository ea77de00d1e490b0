// SPDX-License-Identifier: GPL-3.0-or-later
// Names that Rust mangles: modules, generics, closures.
mod shop {
    pub struct Stock<T> {
        pub items: Vec<T>,
    }

    impl<T: Copy + Into<u64>> Stock<T> {
        #[inline(never)]
        pub fn total(&self) -> u64 {
            self.items.iter().map(|&x| x.into()).sum()
        }
    }

    #[inline(never)]
    pub fn weigh(n: u64) -> u64 {
        std::hint::black_box(n) * 3
    }
}

fn main() {
    let stock = shop::Stock { items: vec![1u32, 2, 3] };
    println!("{} {}", stock.total(), shop::weigh(7));
}
