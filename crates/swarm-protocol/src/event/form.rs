//! How an event is written and read: made from the one list, so that both cannot drift apart.

use crate::ids::RunId;

/// A member `run` of an event: some have one, others may have.
pub(super) trait NamesRun {
    fn run(&self) -> Option<&RunId>;
}

impl NamesRun for RunId {
    fn run(&self) -> Option<&RunId> {
        Some(self)
    }
}

impl NamesRun for Option<RunId> {
    fn run(&self) -> Option<&RunId> {
        self.as_ref()
    }
}

macro_rules! events {
    ($(
        $(#[$doc:meta])*
        $variant:ident $kind:literal
        [$($top:ident $top_name:literal : $top_ty:ty),*]
        {$($inner:ident $inner_name:literal : $inner_ty:ty),*}
    )*) => {
        /// One thing that happened, past tense.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Event {
            $( $(#[$doc])* $variant { $($top: $top_ty,)* $($inner: $inner_ty,)* }, )*
        }

        impl Event {
            /// The kinds of all events, in the order of this list.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// The word in the record's `type` member.
            pub fn kind(&self) -> &'static str {
                match self { $( Self::$variant { .. } => $kind, )* }
            }

            /// The task the event is about.
            pub fn task(&self) -> Option<&TaskId> {
                match self { $( Self::$variant { $($top,)* .. } => events!(@task [$($top)*] $($top)*), )* }
            }

            /// The run the event is about.
            pub fn run(&self) -> Option<&RunId> {
                match self { $( Self::$variant { $($inner,)* .. } => events!(@run [$($inner)*] $($inner)*), )* }
            }

            /// The status that the event gives to its task.
            pub fn status(&self) -> Option<Status> {
                match self { $( Self::$variant { $($top,)* .. } => events!(@status [$($top)*] $($top)*), )* }
            }

            /// Appends `"type":…` and the event's own members to `out`.
            pub fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(b"\"type\":\"");
                out.extend_from_slice(self.kind().as_bytes());
                out.push(b'"');
                match self {
                    $( Self::$variant { $($top,)* $($inner,)* } => {
                        $( member(out, $top_name, $top); )*
                        let _has_data = false $( || { let _ = $inner; true } )*;
                        if _has_data {
                            out.extend_from_slice(b",\"data\":{");
                            let _at = out.len();
                            $( member(out, $inner_name, $inner); )*
                            if out.len() > _at {
                                out.remove(_at); // the comma before the first member
                            }
                            out.push(b'}');
                        }
                    } )*
                }
            }

            /// Reads the event of this kind out of an object with its members; others are passed over.
            pub fn read(kind: &str, line: &[u8]) -> Result<Self, RecordError> {
                let members = Members::of(line)?;
                match kind {
                    $( $kind => events!(@read $variant members
                        [$($top $top_name),*] [$($inner $inner_name),*]), )*
                    _ => Err(RecordError::UnknownKind(kind.chars().take(64).collect())),
                }
            }
        }
    };
    (@task [task $($rest:ident)*] $task:ident $($others:ident)*) => {{
        $( let _ = $others; )*
        Some($task)
    }};
    (@task [$($all:ident)*] $($others:ident)*) => {{
        $( let _ = $others; )*
        None
    }};
    (@run [run $($rest:ident)*] $run:ident $($others:ident)*) => {{
        $( let _ = $others; )*
        form::NamesRun::run($run)
    }};
    (@run [$first:ident $($rest:ident)*] $skipped:ident $($others:ident)*) => {{
        let _ = $skipped;
        events!(@run [$($rest)*] $($others)*)
    }};
    (@run []) => { None };
    (@status [status $($rest:ident)*] $status:ident $($others:ident)*) => {{
        $( let _ = $others; )*
        Some(*$status)
    }};
    (@status [$first:ident $($rest:ident)*] $skipped:ident $($others:ident)*) => {{
        let _ = $skipped;
        events!(@status [$($rest)*] $($others)*)
    }};
    (@status []) => { None };
    (@read $variant:ident $members:ident [$($top:ident $top_name:literal),*] []) => {
        Ok(Self::$variant { $($top: $members.read($top_name)?,)* })
    };
    (@read $variant:ident $members:ident [$($top:ident $top_name:literal),*] [$($inner:ident $inner_name:literal),+]) => {{
        let data = $members.inside("data")?;
        Ok(Self::$variant { $($top: $members.read($top_name)?,)* $($inner: data.read($inner_name)?,)* })
    }};
}
