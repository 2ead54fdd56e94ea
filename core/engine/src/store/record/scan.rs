//! Queries and changes of a table of records.
use super::cell::{Cell, Key, KeyPart, Kind};
use super::table::{Index, Table};

/// How a record is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Read {
    /// As this transaction sees it.
    #[default]
    Plain,
    /// As the store has it now, even where the connection keeps the table in memory. Other writers wait with changes of
    /// the record until this transaction has ended.
    Held,
    /// As `Held`, without the records that another writer holds now.
    HeldIfFree,
    /// As `Held`; where there is no record, other writers wait that want to insert it.
    Reserved,
}

/// Records wanted by the values of a unique index.
#[derive(Debug)]
pub struct Lookup<'a> {
    /// The index: the key, or another unique one.
    pub index: Index,
    /// Values of its columns, one entry a record.
    pub keys: Vec<Vec<Cell<'a>>>,
    /// How they are read.
    pub read: Read,
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct End<'a> {
    /// The value at the end.
    pub value: Cell<'a>,
    /// Whether it belongs to the range.
    pub included: bool,
}

/// A stretch of an index. It costs what is read, wherever it begins; records that [`only`](Self::only) leaves out are
/// read as well.
#[derive(Debug, Clone)]
pub struct Scan<'a> {
    /// The index: the key or another one.
    pub index: Index,
    /// Values of its first columns.
    pub prefix: Vec<Cell<'a>>,
    /// Where the next column begins.
    pub from: Option<End<'a>>,
    /// Where it ends.
    pub to: Option<End<'a>>,
    /// Values of other columns.
    pub only: Vec<(&'static str, Cell<'a>)>,
    /// The place after which it goes on: the columns that [`Table::order_of`] names.
    pub after: Vec<Cell<'a>>,
    /// Largest first.
    pub descending: bool,
    /// Most records.
    pub limit: usize,
    /// Records to pass over.
    pub skip: usize,
    /// How they are read.
    pub read: Read,
}

impl<'a> Scan<'a> {
    /// All records of an index, in its order.
    #[must_use]
    pub const fn over(index: Index) -> Self {
        Self {
            index,
            prefix: Vec::new(),
            from: None,
            to: None,
            only: Vec::new(),
            after: Vec::new(),
            descending: false,
            limit: usize::MAX,
            skip: 0,
            read: Read::Plain,
        }
    }

    /// Only records whose first columns in the index have these values.
    #[must_use]
    pub fn under(mut self, prefix: &'a impl Key) -> Self {
        self.prefix = prefix.parts();
        self
    }

    /// The next column is at least this.
    #[must_use]
    pub fn from(mut self, value: &'a impl KeyPart) -> Self {
        self.from = Some(End { value: value.part(), included: true });
        self
    }

    /// The next column is larger than this.
    #[must_use]
    pub fn above(mut self, value: &'a impl KeyPart) -> Self {
        self.from = Some(End { value: value.part(), included: false });
        self
    }

    /// The next column is at most this.
    #[must_use]
    pub fn to(mut self, value: &'a impl KeyPart) -> Self {
        self.to = Some(End { value: value.part(), included: true });
        self
    }

    /// The next column is smaller than this.
    #[must_use]
    pub fn below(mut self, value: &'a impl KeyPart) -> Self {
        self.to = Some(End { value: value.part(), included: false });
        self
    }

    /// Only records with this value in a column that the index does not have.
    #[must_use]
    pub fn only(mut self, column: &'static str, value: &'a impl KeyPart) -> Self {
        self.only.push((column, value.part()));
        self
    }

    /// Only what comes after this place: the values of the columns that the records are in order of.
    #[must_use]
    pub fn after(mut self, place: &'a impl Key) -> Self {
        self.after = place.parts();
        self
    }

    /// Largest first.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// So many records at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Passes over so many records first. They are read; [`after`](Self::after) costs nothing.
    #[must_use]
    pub fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// Other writers wait with changes of these records until the transaction has ended.
    #[must_use]
    pub fn hold(mut self, read: Read) -> Self {
        self.read = read;
        self
    }

    /// The values that a statement for this is bound to, in order.
    pub(crate) fn params(&self, table: &'static Table) -> Vec<Param<'_>> {
        let kind = |name: &str| table.column(name).map_or(Kind::Text, |(_, column)| column.kind);
        let number = |n: usize| Param { kind: Kind::Integer, cell: Cell::Integer(i64::try_from(n).unwrap_or(i64::MAX)) };
        let mut params: Vec<Param<'_>> = Vec::with_capacity(self.prefix.len() + 4);
        for (name, cell) in self.index.columns.iter().zip(&self.prefix) {
            params.push(Param { kind: kind(name), cell: cell.clone() });
        }
        let next = self.index.columns.get(self.prefix.len()).map_or(Kind::Integer, |name| kind(name));
        for end in [&self.from, &self.to].into_iter().flatten() {
            params.push(Param { kind: next, cell: end.value.clone() });
        }
        for (name, cell) in &self.only {
            params.push(Param { kind: kind(name), cell: cell.clone() });
        }
        for (name, cell) in table.order_of(self.index, self.prefix.len()).zip(&self.after) {
            params.push(Param { kind: kind(name), cell: cell.clone() });
        }
        if self.limit != usize::MAX || self.skip > 0 {
            params.push(number(self.limit));
        }
        if self.skip > 0 {
            params.push(number(self.skip));
        }
        params
    }
}

/// A value that a statement is bound to, and the column that it stands for.
#[derive(Debug, Clone)]
pub struct Param<'a> {
    /// What the column holds.
    pub kind: Kind,
    /// The value.
    pub cell: Cell<'a>,
}

/// A change of one table.
#[derive(Debug)]
pub enum Change<'a> {
    /// Writes a record, new or known. A numbered one must be known. Columns that are fixed stay as they were inserted.
    Put(Vec<Cell<'a>>),
    /// Removes the records of a stretch.
    Remove(Scan<'a>),
}
