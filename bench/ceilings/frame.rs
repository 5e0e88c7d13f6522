// The search of a ceiling: breadth-first over states of one word, with parents, as a person would write it for
// one model. Included by the models beside it.

/// States in order of discovery, with their parents, and a table of them.
struct Search {
    states: Vec<u64>,
    parents: Vec<u32>,
    table: Vec<u64>,
    shift: u32,
}

impl Search {
    fn new() -> Self {
        Self { states: Vec::new(), parents: Vec::new(), table: vec![0; 1 << 12], shift: 52 }
    }
    #[inline]
    fn home(&self, state: u64) -> usize {
        let mixed = (state ^ (state >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> self.shift) as usize
    }
    #[inline]
    fn add(&mut self, state: u64, parent: u32) {
        let mask = self.table.len() - 1;
        let mut position = self.home(state);
        loop {
            let entry = self.table[position];
            if entry == state + 1 {
                return;
            }
            if entry == 0 {
                break;
            }
            position = (position + 1) & mask;
        }
        self.table[position] = state + 1;
        self.states.push(state);
        self.parents.push(parent);
        if self.states.len() * 3 > self.table.len() * 2 {
            self.grow();
        }
    }
    fn grow(&mut self) {
        let length = 2 * self.table.len();
        self.table = vec![0; length];
        self.shift -= 1;
        for number in 0..self.states.len() {
            let state = self.states[number];
            let mut position = self.home(state);
            while self.table[position] != 0 {
                position = (position + 1) & (length - 1);
            }
            self.table[position] = state + 1;
        }
    }
    /// Expands every state; returns states and steps.
    fn run(&mut self, start: u64, mut expand: impl FnMut(u64, &mut Vec<u64>)) -> (usize, usize) {
        self.add(start, u32::MAX);
        let mut successors = Vec::new();
        let mut steps = 0;
        let mut number = 0;
        while number < self.states.len() {
            successors.clear();
            expand(self.states[number], &mut successors);
            steps += successors.len();
            for &successor in &successors {
                self.add(successor, number as u32);
            }
            number += 1;
        }
        (number, steps)
    }
}
