//! Pictures of pages as expectations. A picture is reduced to a grid of the mean colours of its cells, which is kept as a
//! text beside the test. Other fonts and other versions of a browser move letters within cells and a few lines across them;
//! something missing, overlapping or in the wrong colour changes more.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::browser::{Browser, Colours};

/// The cells of a picture of 1280 × 720 are squares.
pub const GRID: (usize, usize) = (32, 18);

/// By how much a channel of a cell may differ from that of the same cell or of one beside it, of 255.
const NEAR: u8 = 16;

/// How many of a thousand cells may differ by more.
const FAR_CELLS: usize = 25;

/// The mean colours of the cells of a picture, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    cells: Vec<[u8; 3]>,
}

/// How a picture differs from what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Difference {
    /// The number of cells that differ by much.
    cells: usize,
    /// The columns and rows that have them: the first and the last.
    columns: (usize, usize),
    rows: (usize, usize),
    /// The largest difference of a channel.
    most: u8,
}

impl Fingerprint {
    /// The mean colours of a grid, channel by channel.
    ///
    /// # Panics
    /// If these are not those of a grid.
    pub fn new(channels: &[u8]) -> Self {
        assert_eq!(channels.len(), 3 * GRID.0 * GRID.1, "three channels for each cell");
        Self { cells: channels.chunks(3).map(|cell| [cell[0], cell[1], cell[2]]).collect() }
    }

    /// Reads the text of a fingerprint.
    fn read(text: &str) -> Option<Self> {
        let channel = |cell: &str, at: usize| u8::from_str_radix(cell.get(at..at + 2)?, 16).ok();
        let cell = |cell: &str| Some([channel(cell, 0)?, channel(cell, 2)?, channel(cell, 4)?]);
        let cells: Vec<[u8; 3]> = text.split_whitespace().map(cell).collect::<Option<_>>()?;
        (cells.len() == GRID.0 * GRID.1).then_some(Self { cells })
    }

    /// By how much a channel of a cell differs from the most similar one of the cells there in another picture.
    fn distance(&self, cell: usize, other: &Self) -> u8 {
        let (column, row) = (cell % GRID.0, cell / GRID.0);
        let columns = column.saturating_sub(1)..(column + 2).min(GRID.0);
        let rows = row.saturating_sub(1)..(row + 2).min(GRID.1);
        let around = rows.flat_map(|row| columns.clone().map(move |column| row * GRID.0 + column));
        let apart = |there: usize| {
            let (one, other) = (self.cells[cell], other.cells[there]);
            (0..3).map(|it| one[it].abs_diff(other[it])).max().unwrap_or(0)
        };
        around.map(apart).min().unwrap_or(0)
    }

    /// The difference from another one; none if it is small enough.
    fn difference(&self, other: &Self) -> Option<Difference> {
        // What is in one picture is missing in the other, or the other way round.
        let apart = |cell: usize| self.distance(cell, other).max(other.distance(cell, self));
        let apart: Vec<u8> = (0..self.cells.len()).map(apart).collect();
        let far: Vec<usize> = (0..apart.len()).filter(|&cell| apart[cell] > NEAR).collect();
        if far.len() * 1000 <= FAR_CELLS * apart.len() {
            return None;
        }
        let bounds = |of: fn(usize) -> usize| {
            let all = far.iter().map(|&cell| of(cell));
            (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
        };
        Some(Difference {
            cells: far.len(),
            columns: bounds(|cell| cell % GRID.0),
            rows: bounds(|cell| cell / GRID.0),
            most: apart.into_iter().max().unwrap_or(0),
        })
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.cells.chunks(GRID.0) {
            let cells: Vec<String> = row.iter().map(|[r, g, b]| format!("{r:02x}{g:02x}{b:02x}")).collect();
            writeln!(formatter, "{}", cells.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = GRID.0 * GRID.1;
        let side = 1280 / GRID.0;
        let pixels = |(first, last): (usize, usize)| format!("{} to {}", first * side, (last + 1) * side);
        write!(
            formatter,
            "{} of {all} cells differ by more than {NEAR} of 255 ({} may), at pixels {} across and {} down, by at most {}",
            self.cells,
            FAR_CELLS * all / 1000,
            pixels(self.columns),
            pixels(self.rows),
            self.most
        )
    }
}

/// Compares the page with its pictures in a folder, in light and dark colours. `SNAPSHOTS=overwrite` writes down what
/// differs instead; look at it first: the pictures are written into the folder that `QUOTIENT_PICTURES` names, and those that
/// are not as expected in any case.
///
/// # Panics
/// If the page does not look as expected.
pub fn expect_pictures(browser: &mut Browser, folder: &Path, name: &str) {
    for colours in [Colours::Light, Colours::Dark] {
        browser.set_colours(colours);
        let name = format!("{name}-{}", if colours == Colours::Dark { "dark" } else { "light" });
        let (picture, channels) = browser.picture(GRID);
        let fingerprint = Fingerprint::new(&channels);
        let write = |folder: &Path| {
            let path = folder.join(format!("{name}.png"));
            fs::write(&path, &picture).expect("the picture can be written");
            path
        };
        if let Some(folder) = std::env::var_os("QUOTIENT_PICTURES") {
            write(&PathBuf::from(folder));
        }
        let expectation = folder.join(format!("{name}.txt"));
        let expected = fs::read_to_string(&expectation).ok().and_then(|text| Fingerprint::read(&text));
        let fits = expected.as_ref().is_some_and(|expected| expected.difference(&fingerprint).is_none());
        if !fits && std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            fs::create_dir_all(folder).expect("the folder can be made");
            fs::write(expectation, fingerprint.to_string()).expect("the expectation can be written");
            continue;
        }
        let Some(expected) = expected else {
            let path = write(&std::env::temp_dir());
            panic!("nothing is expected of the picture {}; look at it and use SNAPSHOTS=overwrite", path.display());
        };
        if let Some(difference) = expected.difference(&fingerprint) {
            let path = write(&std::env::temp_dir());
            panic!("the picture {} is not as expected: {difference}", path.display());
        }
    }
    browser.set_colours(Colours::Light);
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, GRID};

    fn plain(colour: u8) -> Fingerprint {
        Fingerprint::new(&vec![colour; 3 * GRID.0 * GRID.1])
    }

    #[test]
    fn fingerprints_are_read_as_written() {
        let mut picture = plain(200);
        picture.cells[33] = [1, 2, 255];
        assert_eq!(Fingerprint::read(&picture.to_string()), Some(picture));
        assert_eq!(Fingerprint::read("ffffff 000000"), None);
    }

    #[test]
    fn few_cells_or_small_differences_are_no_difference() {
        let expected = plain(200);
        assert_eq!(expected.difference(&plain(215)), None);
        let mut before = plain(200);
        before.cells[64..96].fill([20, 20, 20]);
        let mut after = plain(200);
        after.cells[96..128].fill([20, 20, 20]);
        assert_eq!(before.difference(&after), None, "a line further down");
        let mut moved = plain(200);
        moved.cells[5..15].fill([20, 20, 20]);
        assert_eq!(expected.difference(&moved), None);
    }

    #[test]
    fn a_missing_pane_is_a_difference() {
        let expected = plain(250);
        let mut missing = plain(250);
        for row in 4..18 {
            missing.cells[row * GRID.0 + 20..(row + 1) * GRID.0].fill([220, 250, 250]);
        }
        let difference = expected.difference(&missing).expect("a difference").to_string();
        let said = "168 of 576 cells differ by more than 16 of 255 (14 may), at pixels 800 to 1280 across and 160 to 720 down, by at most 30";
        assert_eq!(difference, said);
    }
}
