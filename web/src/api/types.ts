// Made by `npm run types` from docs/reference/openapi.json. Do not edit.

/** A worker identity, `ed-001`: persona and number, never reused within a ledger. */
export type AgentId = string;

/** What an agent is at, for screens. Never enters the ledger. */
export type AgentNews = { agent?: AgentId | null; doing?: string | null; heard: Timestamp; iteration: number; journal_bytes: number; percent?: number | null; run: RunId; task: TaskId };

/** An agent that has a task, and the latest news of it. */
export type AgentNow = { agent: AgentId; doing: string; held?: boolean; iteration: number; news?: AgentNews | null; run: RunId; since: Timestamp; task: TaskId; title: string; usage: Usage };

export type AgentView = { agent: AgentId; doing: string; held?: boolean; iteration: number; run: RunId; since: Timestamp; task: TaskId; title: string; usage: Usage };

/** Whether a verb would be accepted now, and if not, why and what would help. */
export type AllowedView = { refused?: ApiError | null; verb: Verb };

/** The answer to an accepted command, given only after the ledger's sync. */
export type Answer = { id: CommandId; repeated?: boolean; seq: number; text: string };

/** What could not be done, and what to do. */
export type ApiError = { hint: string; kind: string; message: string; refusal?: Refusal | null };

export type ApprovalView = { approved: boolean; approved_hash?: string | null; drifted: boolean; structure_hash: string };

/** `get_approved_plan`: the plan a person agreed to, and whether it has drifted. */
export type ApprovedPlanView = { approved: boolean; approved_hash?: string | null; drifted: boolean; execution_profile: ExecutionProfile; plan?: unknown; structure_hash: string };

export type AttentionChoice = { asks_for?: string | null; command: Command; label: string };

/** Something that waits for a person, with the ways on as commands that can be sent as they are. */
export type AttentionEntry = { choices: AttentionChoice[]; commands: string[]; id: string; kind: AttentionKind; seen_by?: string | null; since: Timestamp; task?: TaskId | null; what: string; why: string };

/** What an entry of the attention list is about. */
export type AttentionKind = "question" | "blocked" | "failed" | "review" | "start" | "checkout" | "gone" | "pause" | "quota" | "agent" | "proposal" | "seen" | "other";

/** Something waits for a person. */
export type AttentionView = { commands: string[]; seen_by?: string | null; since: Timestamp; what: string; why: string };

export type AuditView = { at: Timestamp; details: string; event: string };

/** Why a blocked task waits. */
export type BlockKind = "human" | "sandbox" | "review" | "conflict" | "retries" | "setup" | "children" | "overflow" | "budget" | "empty" | "reserved";

/** An agent with everything that its line and its dialogs say. */
export type BoardAgent = { agent: AgentId; attempt: number; branch: string; doing: string; held?: boolean; iteration: number; iterations_max: number; news?: AgentNews | null; profile?: string; run: RunId; since: Timestamp; task: TaskId; title: string; usage: Usage };

/** A task in the tree. */
export type BoardRow = { agent?: AgentId | null; attempts: number; commit?: Oid | null; conflicts_with?: ConflictsWith[]; depends: TaskId[]; detail: string; group: Group; id: TaskId; phase: number; priority: number; restarts?: number; stage: string; status: Status; tags: string[]; title: string; unblocks: number; waits_for_start?: boolean; word: string };

/** Everything on the main screen. */
export type BoardView = { agents: BoardAgent[]; attention: AttentionEntry[]; checkpoints: CheckpointRow[]; now: Timestamp; operations: OperationView[]; pauses: PauseView[]; reviews: ReviewView[]; rows: BoardRow[]; status: StatusView };

/** What was spent of what may be spent, since the budget was last extended. No bound: nothing. */
export type BudgetView = { cost_micros: number; cost_micros_max?: number | null; secs: number; secs_max?: number | null; spent: boolean; tokens: number; tokens_max?: number | null };

/** A commit, and for what it was made. */
export type CauseView = { at: Timestamp; author: string; commit: Oid; says_agent?: string | null; says_task?: string | null; summary: string; task?: TaskId | null };

/** A fact that no longer is what an operation made of it. */
export type Changed = { by: CommandId[]; fact: string; words: string };

/** A file that is changed, without its lines. */
export type ChangedFile = { added: number; binary?: boolean; path: string; removed: number; was?: string | null };

/** A checkpoint in the rollback menu. */
export type CheckpointRow = { at: Timestamp; auto: boolean; commits_since: number; name: string; seq: number; tasks_since: number; trigger: string; trunk?: Oid | null };

/** A checkpoint in a list. */
export type CheckpointView = { at: Timestamp; auto: boolean; branch?: string | null; deleted?: Timestamp | null; dirty?: Record<string, Oid>; full: boolean; mergedSince: TaskId[]; moving?: TaskId[]; name: string; needed?: string | null; seq: number; tips?: Record<string, Oid>; trigger: string; trunk?: Oid | null };

/** A ready task that an agent could take up instead of its own. */
export type Choice = { phase: number; tags: string[]; task: TaskId; title: string; unblocks: TaskId[]; why: string };

export type CleanedUp = { dry_run: boolean; removed: boolean; saved?: string | null; task: TaskId; why?: string | null };

/** A wish, imperative. */
export type Command = { do: "save_plan"; kind: SaveKind; plan: PlanFile; planning?: Planning | null; reset_statuses: boolean; source: string } | { do: "reset_plan" } | { do: "approve_plan" } | { do: "set_profile"; profile: ExecutionProfile } | { do: "lock_profile" } | { do: "record_export"; path: string } | { do: "complete_phase"; phase: number } | { archive: string; do: "close_plan" } | { do: "reopen_plan" } | { after?: TaskId | null; do: "add_task"; phase?: number | null; task: TaskSpec } | { do: "edit_task"; patch: TaskPatch; task: TaskId } | { do: "remove_task"; task: TaskId } | { after?: TaskId | null; do: "move_task"; phase?: number | null; task: TaskId } | { do: "block_task"; reason: string; task: TaskId } | { do: "unblock_task"; task: TaskId } | { do: "accept_task"; reason: string; task: TaskId } | { do: "retry" } | { do: "defer_task"; task: TaskId } | { do: "cancel_task"; task: TaskId } | { do: "review"; task: TaskId; verdict: Verdict } | { do: "waive_gate"; gate: Gate; reason: string; task: TaskId } | { do: "pause"; force?: boolean; reason: PauseReason; why: string } | { do: "resume"; reason: PauseReason } | { do: "set_mode"; mode: Mode } | { do: "start_tasks"; tasks: TaskId[] } | { base: Oid; do: "submit_work"; task: TaskId; tip: Oid; tree: Oid } | { do: "record_removal"; left?: Left | null; task: TaskId } | { do: "stop_agent"; task: TaskId } | { do: "kill_agent"; task: TaskId } | { do: "redirect"; same_worktree: boolean; task: TaskId; to: TaskId } | { do: "make_checkpoint"; name?: string | null } | { do: "delete_checkpoint"; name: string } | { do: "rollback"; expect?: string | null; force?: Force; to?: string | null } | { cascade: boolean; do: "rollback_task"; expect?: string | null; force?: Force; task: TaskId } | { do: "abort"; expect?: string | null; force?: Force } | { do: "undo"; expect?: string | null; force?: Force; operation?: CommandId | null; partial: boolean } | { do: "redo"; expect?: string | null; force?: Force; operation?: CommandId | null } | { branch: string; do: "set_trunk"; expect?: string | null; start?: Oid | null } | { do: "message_agent"; task: TaskId; text: string } | { agent: AgentId; do: "revive_agent" } | { do: "split_task"; parts: TaskSpec[]; planning?: Planning | null; task: TaskId } | { do: "open_quota"; group: string } | { do: "hold_quota"; group: string } | { do: "extend_budget"; task?: TaskId | null } | { do: "reserve"; files: string[]; reason?: string | null; secs?: number | null; shared?: boolean } | { do: "release_reservation"; number: number } | { do: "drain"; why: string } | { do: "checkpoint_and_drain"; why: string } | { do: "acknowledge_attention"; entry: string } | { command: Command; do: "propose"; says: string[] } | { do: "accept_proposal"; number: number } | { do: "decline_proposal"; number: number; reason?: string | null } | { do: "acknowledge_loss"; salvaged: number };

/** The id a client gives its command so that a lost answer can be asked for again. */
export type CommandId = string;

/** A command as a client sends it. Who asks is decided by the coordinator; `by` may only say through */
export type CommandRequest = { by?: string | null; command: Command; id: CommandId };

/** The branch of a task conflicts with another one. */
export type ConflictView = { files: string[]; task: TaskId; with: string };

export type ConflictsWith = { files: string[]; with: string };

/** One sum. */
export type CostRow = { attempts: number; cachedTokens?: number; costMicros?: number; estimatedMicros?: number; inputTokens?: number; name: string; outputTokens?: number; steps?: number };

/** The same money three times: by what became of the work, by task and by agent. */
export type CostsView = { agent: CostRow[]; outcome: CostRow[]; task: CostRow[] };

export type Counts = { aborted?: number; active: number; blocked: number; cancelled: number; deferred: number; done: number; failed: number; gone?: number; merging: number; ready: number; review: number; split?: number; timeout: number; total: number; waiting: number };

/** A wish that is no command of the ledger. */
export type Deed = { do: "create_worktree"; from?: string | null; task: TaskId } | { do: "merge_worktree"; task: TaskId } | { do: "clean_up_worktree"; force?: boolean; task: TaskId } | { do: "restore"; name: string } | { do: "run_hook"; hook: string; variables?: Record<string, string> } | { do: "fix" };

/** What came of a deed. */
export type DeedDone = ({ did: "create_worktree"; view: WorktreeMade } | { did: "merge_worktree"; view: Answer } | { did: "clean_up_worktree"; view: CleanedUp } | { did: "restore"; view: RestoredView } | { did: "run_hook"; view: HookRan } | { did: "fix"; view: DoctorView }) & { text: string };

/** A deed as a client sends it. */
export type DeedRequest = { by?: string | null; deed: Deed; id?: CommandId | null };

/** An agent that crashed too often gets no more work until `swarm agent revive`. */
export type DegradedView = { agent: AgentId; since: Timestamp; why: string };

/** How far a command has come. */
export type Delivery = { state: "queued" } | { answer: Answer; state: "landed" } | { error: ApiError; state: "refused" } | { state: "unknown" };

/** What an operation that moves git does, as its preview says it, and what was made for it. As much as people read. */
export type Did = { made?: Oid[]; says?: Says };

/** What the work of a task changes, as a patch. */
export type DiffView = { cut?: boolean; files?: ChangedFile[]; from: Oid; hunks?: Hunk[] | null; mixed?: boolean; patch: string; round?: number | null; rounds?: RoundView[]; since?: number | null; task: TaskId; to: Oid };

/** Everything that was looked at, in the order of the checks. */
export type DoctorView = { findings: Finding[]; fixed: number; problems: number };

/** The one shape of every error. */
export type ErrorBody = { error: ApiError };

/** How many tasks of this plan may run at once, and whether that may still be changed. */
export type ExecutionProfile = { council_parallel?: boolean; locked?: boolean; max_concurrent_tasks?: number; parallelization_enabled?: boolean };

/** One fact that an operation changed: `task/1.2/stage`, `mode`, `ref/refs/heads/main` … */
export type FactChange = { after?: unknown; before?: unknown; fact: string };

/** A failure with what is known about it. */
export type Failure = { class: FailureClass; hint?: string | null; resetsInSecs?: number | null; text: string };

/** What was wrong, as told by the program's own structured output first. */
export type FailureClass = "throttled" | "overloaded" | "network" | "quota" | "billing" | "key" | "configuration" | "overflow" | "output_cut" | "refused" | "own_limit" | "limits" | "shortage" | "stalled" | "looping" | "denied" | "crashed" | "unknown";

/** One thing that was looked at, and how it is. */
export type Finding = { fix?: string | null; fixed: boolean; id: string; state: Health; subject?: string; title: string; what: string };

/** What a person allows that would be refused otherwise. */
export type Force = { dropForeign?: boolean; saveLocal?: boolean; setAside?: boolean };

/** A condition between a task and its completion that produces evidence. */
export type Gate = "check" | "scan" | "review" | "verify";

/** Why nothing is started under a group of profiles until somebody has asked again. */
export type GateCause = "quota" | "service" | "key";

/** What an agent program was given at the beginning of an iteration, secrets covered. */
export type GivenPrompt = { at: Timestamp; cut?: boolean; iteration: number; run: RunId; text: string };

/** To which group of tasks a task belongs, for its sign and colour. */
export type Group = "needs_you" | "works" | "merges" | "in_review" | "waits" | "ready" | "done" | "aside";

/** What a fresh agent or person needs to go on. */
export type HandoffView = { approved: ApprovalView; attention: AttentionView[]; conflicts?: ConflictView[]; decisions: AuditView[]; execution_profile: ExecutionProfile; goal: string; more?: MoreView[]; open: TaskRow[]; pending_reviews: TaskRow[]; phase?: PhaseView | null; seq: number };

/** How bad it is, mildest first. */
export type Health = "ok" | "problem" | "note";

/** Some records of the ledger, as they stand there. */
export type HistoryPage = { next?: number | null; records: unknown[]; seq: number };

/** How a hook ended. */
export type HookOutcome = { outcome: "ok" } | { code?: number | null; outcome: "failed" } | { outcome: "timed_out" } | { outcome: "not_started"; why: string } | { outcome: "interrupted" };

/** A hook that there is, and its last end. */
export type HookProgram = { blocking: boolean; hook: string; last?: HookView | null; program: string; timeoutSecs?: number | null; unfit?: string | null };

export type HookPrograms = HookProgram[];

export type HookRan = { hook: string; outcome: HookOutcome; output: string };

/** A hook that waits, runs or ran. */
export type HookView = { hook: string; n: number; outcome?: HookOutcome | null; output: string; running: boolean; subject?: string | null };

/** Lines that stand together. */
export type Hunk = { head: string; lines: HunkLine[] };

export type HunkLine = { mark?: unknown[] | null; new?: number | null; old?: number | null; side: Side; text: string };

export type Landed = { base: Oid; stands?: Oid[]; tip: Oid; tree: Oid };

export type LandedView = { at: Timestamp; iteration: number; run: RunId };

/** What agents found worth remembering. */
export type LearningsView = { all: string[]; personas: Record<string, string[]> };

/** What lay in a worktree when it was given up. */
export type Left = { base: Oid; dirty?: Oid | null; tip: Oid };

/** Some lines of a journal. */
export type LogPage = { cursor: number; end: boolean; lines: unknown[]; run: RunId };

/** A member of the council and what it says about submitted work. */
export type MemberView = { member: string; notes: ReviewNote[]; profile: string; said: string; voice?: Voice | null };

/** A word of a person for whoever works on a task. */
export type MessageView = { at: Timestamp; by: string; id: CommandId; landed?: LandedView | null; text: string; undelivered?: string | null };

/** Whether ready tasks start by themselves. */
export type Mode = "autopilot" | "semi-auto";

/** How things stood at one moment. */
export type MomentView = { agents?: number; at: Timestamp; cachedTokens?: number; costMicros?: number; done: number; estimatedMicros?: number; inputTokens?: number; open: number; outputTokens?: number; steps?: number };

/** Entries that a summary leaves out. */
export type MoreView = { command: string; count: number; what: string };

export type NextView = { because: string; task: TaskId; title: string; waits_for_start?: boolean };

/** A git object name, 40 or 64 lowercase hex digits. */
export type Oid = string;

export type OperationState = "under_way" | "done" | "undone" | "failed" | "waits";

/** An operation, as `swarm op log` and `swarm op show` have it. */
export type OperationView = { at: Timestamp; by: string; canBeUndone: boolean; changes?: string[]; checkpoint?: string | null; did?: Did | null; facts: FactChange[]; hint?: string | null; id: CommandId; kind: string; seq: number; state: OperationState; step?: string | null; subject?: string | null; text: string; undoes?: CommandId | null; undoneBy?: CommandId | null; whyNot?: string | null };

/** At most a few hundred moments, oldest first: those at which something changed, nearer to one another where less time has passed. */
export type OverTimeView = { costs?: CostsView | null; moments: MomentView[] };

/** Why the swarm starts nothing new. Several may hold at once. */
export type PauseReason = "user" | "disk" | "trunk" | "setup" | "budget" | "errors" | "abort" | "close" | "checks";

/** Why nothing new starts. */
export type PauseView = { ended_by: string; reason: PauseReason; since: Timestamp; why: string };

export type PhaseFile = { id: number; name?: string; tasks?: TaskFile[] };

export type PhaseView = { complete: boolean; done: number; id: number; name: string; total: number };

/** The intent of an operation: everything that it will move, and where the old is kept. */
export type Plan = { at: Timestamp; checkpoint: string; facts?: FactChange[]; local?: string | null; refs?: RefMove[]; saveLocal?: string[]; says: Says; tasks?: Record<string, SavedTask>; trunk?: TrunkMove | null; worktrees?: WorktreeMove[] };

/** A plan file: what `swarm plan save` reads and `swarm plan export` writes. */
export type PlanFile = { execution_profile?: ExecutionProfile | null; goal: string; phases: PhaseFile[] };

export type Planning = { asked: number; began: Timestamp; ended: Timestamp; model?: string | null; profile: string; program: string; session?: string | null; usage?: Usage };

/** Somebody is there. */
export type Pong = { api: number; role: string; swarm: string };

/** What a command would do. */
export type PreviewView = { checkpoint?: string | null; expect?: string | null; facts: FactChange[]; kind: string; nothing?: boolean; plan?: Plan | null; says: Says; stops: StopView[]; text: string };

/** A template of what agents are told. */
export type PromptView = { name: string; own: boolean; path: string; text: string };

export type Prompts = PromptView[];

/** Proof that a task's work is on trunk. */
export type Proof = { accepted?: string | null; commit: Oid; commits: Oid[]; found?: Oid[]; made?: Oid[]; trunk: string };

/** Nothing of a group of profiles is started: its allowance is used up, its service is not to be had, or its key is not accepted. */
export type QuotaView = { cause?: GateCause; group: string; held: boolean; next_probe?: Timestamp | null; probing: boolean; resets_at?: Timestamp | null; since: Timestamp; waiting: number; why: string };

export type RefMove = { name: string; new?: Oid | null; old?: Oid | null };

/** Why a command was not carried out. Nothing was changed. */
export type Refusal = { refusal: "no_plan" } | { refusal: "plan_closed" } | { refusal: "plan_exists" } | { near?: TaskId | null; refusal: "unknown_task"; task: string } | { known: number[]; phase: number; refusal: "unknown_phase" } | { refusal: "duplicate_task"; task: TaskId } | { depends: string; near?: TaskId | null; refusal: "unknown_dependency"; task: TaskId } | { path: TaskId[]; refusal: "cycle" } | { got: number; limit: number; refusal: "too_large"; what: string } | { refusal: "bad_value"; what: string; why: string } | { refusal: "profile_locked" } | { instead: string[]; refusal: "wrong_status"; status: Status; task: TaskId; wanted: string } | { refusal: "reviewed_another"; seen: Oid; submitted: Oid; task: TaskId } | { by: Reviewer; refusal: "reviewed_by"; task: TaskId } | { open: TaskId[]; phase: number; refusal: "phase_open" } | { phase: number; refusal: "phase_already_complete" } | { refusal: "agents_running"; tasks: TaskId[] } | { by: TaskId[]; refusal: "task_in_use"; task: TaskId } | { refusal: "nothing_to_change"; what: string } | { paused: PauseReason[]; refusal: "not_paused"; wanted: PauseReason } | { refusal: "no_agent"; task: TaskId } | { files: string; holder: string; number: number; refusal: "files_reserved" } | { number: number; refusal: "unknown_reservation" } | { number: number; refusal: "unknown_proposal" } | { id: CommandId; number: number; refusal: "already_proposed" } | { gate: string; refusal: "already_waived"; task: TaskId } | { refusal: "draining" } | { refusal: "not_for_agents"; what: string } | { refusal: "read_only"; why: string } | { kind: string; refusal: "operation_under_way" } | { name: string; near?: string | null; refusal: "unknown_checkpoint" } | { name: string; refusal: "checkpoint_exists" } | { name: string; refusal: "checkpoint_needed"; why: string } | { id: string; refusal: "unknown_operation" } | { refusal: "nothing_to_undo"; what: string } | { by: CommandId; by_number?: number | null; id: CommandId; number?: number | null; refusal: "already_undone" } | { changes: Changed[]; id: CommandId; instead: string; refusal: "changed_since"; what: string } | { dependents: TaskId[]; refusal: "has_dependents"; task: TaskId } | { command: string; refusal: "preview_changed" } | { hint: string; refusal: "cannot_move"; why: string };

/** Files that somebody has for themselves, for a while. */
export type ReservationView = { beside?: number[]; files: string[]; holder: string; number: number; reason?: string | null; shared: string[]; since: Timestamp; task?: TaskId | null; until?: Timestamp | null; waiting: TaskId[] };

/** One file that conflicted, and what resolved it. A file may be named more than once. */
export type Resolved = { path: string; way: Way };

export type RestoredView = { branch?: string | null; name: string; path: string };

/** What is to be changed. */
export type ReviewNote = { file?: string | null; line?: number | null; text: string };

/** Submitted work that is or waits to be reviewed. */
export type ReviewView = { base?: Oid | null; branch: string; commands: string[]; council?: MemberView[]; protected?: string[]; reviewer: Reviewer; round: number; rounds: number; since: Timestamp; stage: string; submitted: Oid; task: TaskId; title: string; tree: Oid };

/** Who says that submitted work is good; a later one is stricter. */
export type Reviewer = "none" | "command" | "agent" | "council" | "human";

/** Work that was submitted once, and what became of it. */
export type RoundView = { at: Timestamp; commit: Oid; notes: string[]; round: number; verdict?: string | null };

/** One run of a program under a daemon, `r17`: numbered through the whole ledger, never reused. */
export type RunId = string;

/** What kind of program the daemon runs. */
export type RunKind = "work" | "verify" | "review" | "probe";

/** Where a saved plan comes from. */
export type SaveKind = "save" | "import" | "migrate";

export type Saved = SavedView[];

/** A task's stage in the form that can be set back. */
export type SavedStage = { stage: "pending"; started: boolean; withheld?: boolean } | { stage: "working" } | { base?: Oid | null; stage: "review"; tip: Oid; tree: Oid } | { base?: Oid | null; stage: "approved"; tip: Oid; tree: Oid } | { parts?: TaskId[]; proof?: Proof | null; stage: "done" } | { proof: Proof; stage: "gone"; why: string; work?: Landed | null } | { block: BlockKind; stage: "blocked"; was?: SavedStage | null; why: string } | { stage: "failed"; why: string } | { stage: "timeout"; why: string } | { stage: "deferred"; was?: SavedStage | null } | { stage: "cancelled" } | { parts: TaskId[]; stage: "split" };

/** A task as it was at some ledger position, without what it asks for. */
export type SavedTask = ({ stage: "pending"; started: boolean; withheld?: boolean } | { stage: "working" } | { base?: Oid | null; stage: "review"; tip: Oid; tree: Oid } | { base?: Oid | null; stage: "approved"; tip: Oid; tree: Oid } | { parts?: TaskId[]; proof?: Proof | null; stage: "done" } | { proof: Proof; stage: "gone"; why: string; work?: Landed | null } | { block: BlockKind; stage: "blocked"; was?: SavedStage | null; why: string } | { stage: "failed"; why: string } | { stage: "timeout"; why: string } | { stage: "deferred"; was?: SavedStage | null } | { stage: "cancelled" } | { parts: TaskId[]; stage: "split" }) & { begins?: Oid | null; landedBefore?: Oid[]; lastAgent?: AgentId | null; lastFailure?: string | null; left?: Left | null; mergeRounds?: number; retries?: number; reviewRounds?: number; session?: string | null; waived?: Gate[]; wip?: Oid | null; worktree?: boolean };

/** Something that was saved and can be brought back. */
export type SavedView = { age_secs: number; commits?: number | null; files?: number | null; name: string; subject: string; task: string; what: string };

/** The preview, in lines for people. */
export type Says = { commits?: string[]; foreign?: string[]; stays?: string[]; tasks?: string[]; work?: string[] };

export type SeenAgents = { seq: number; view: AgentNow[] };

export type SeenAllowed = { seq: number; view: AllowedView[] };

export type SeenApprovedPlan = { seq: number; view: ApprovedPlanView };

export type SeenAttention = { seq: number; view: AttentionView[] };

export type SeenBoard = { seq: number; view: BoardView };

export type SeenCheckpoints = { seq: number; view: CheckpointView[] };

export type SeenChoices = { seq: number; view: Choice[] };

export type SeenHandoff = { seq: number; view: HandoffView };

export type SeenHooks = { seq: number; view: HookView[] };

export type SeenOperation = { seq: number; view: OperationView };

export type SeenOperations = { seq: number; view: OperationView[] };

export type SeenPlan = { seq: number; view: PlanFile };

export type SeenReviews = { seq: number; view: ReviewView[] };

export type SeenStatus = { seq: number; view: StatusView };

export type SeenTask = { seq: number; view: TaskView };

export type SeenTasks = { seq: number; view: TaskRow[] };

export type Settings = ({ from: "default" | "file" | "environment" | "flag"; key: string; line?: number; name?: string; value: unknown })[];

export type Side = "old" | "new" | "both";

export type Since = { from: number; seq: number; tasks: Record<string, TaskId[]>; usage: Usage };

export type Size = "small" | "medium" | "large";

/** Status of a task, in our words; the words of other tools are read too. */
export type Status = "pending" | "active" | "review" | "merging" | "done" | "blocked" | "failed" | "timeout" | "deferred" | "cancelled" | "gone";

/** The swarm at a glance. */
export type StatusView = { agents: AgentView[]; approved: ApprovalView; attention: AttentionView[]; budget?: BudgetView | null; conflicts?: ConflictView[]; coordinator?: boolean | null; counts: Counts; degraded?: DegradedView[]; draining: boolean; epoch: number; goal: string; loss?: string | null; mode: Mode; next: NextView[]; paused: PauseReason[]; phases: PhaseView[]; profile: ExecutionProfile; quotas?: QuotaView[]; reservations?: ReservationView[]; seq: number; trunk?: string | null; usage: Usage; without_walls?: string[] };

/** A run that a command would end, and where its work would be kept. */
export type StopView = { agent?: AgentId | null; files: string[]; filesInAll: number; kind: RunKind; run: RunId; savedTo?: string | null; task: TaskId };

/** A task in a plan file: as in the ledger, but with unknown members beside the known ones. */
export type TaskFile = { acceptance?: string[]; allow_empty?: boolean; depends?: TaskId[]; description?: string; files?: string[]; id: TaskId; isolation?: "worktree" | "reservation" | null; priority?: number | null; profile?: string | null; reserve?: string[]; review?: "none" | "command" | "agent" | "council" | "human" | null; share?: string[]; size?: Size | null; status?: Status | null; tags?: string[]; title: string };

/** A task of the plan, `1.2` or `add-login`. Also the last part of its branch `swarm/<task>` and */
export type TaskId = string;

/** A change to some members of a task; what is absent stays, `null` takes away. */
export type TaskPatch = { acceptance?: string[] | null; allow_empty?: boolean | null; depends?: TaskId[] | null; description?: string | null; extra?: Record<string, unknown> | null; files?: string[] | null; isolation?: string | null; priority?: number | null; profile?: string | null; reserve?: string[] | null; review?: string | null; share?: string[] | null; size?: Size | null; tags?: string[] | null; title?: string | null };

/** One line of the task list. */
export type TaskRow = { agent?: AgentId | null; attempts: number; depends: TaskId[]; id: TaskId; phase: number; restarts?: number; stage: string; status: Status; title: string };

/** What a task asks for. This is the form inside the ledger: unknown members stand apart in `extra`. */
export type TaskSpec = { acceptance?: string[]; allow_empty?: boolean; depends?: TaskId[]; description?: string; extra?: Record<string, unknown>; files?: string[]; id: TaskId; isolation?: string | null; priority?: number | null; profile?: string | null; reserve?: string[]; review?: string | null; share?: string[]; size?: Size | null; tags?: string[]; title: string };

/** Everything about one task. */
export type TaskView = { acceptance: string[]; agent?: AgentId | null; attempts: number; audit: AuditView[]; block?: BlockKind | null; branch: string; budget?: BudgetView | null; commands: string[]; conflicts_with?: ConflictsWith[]; crashes?: number; depends: TaskId[]; description: string; failure?: Failure | null; files: string[]; id: TaskId; merge_rounds: number; messages?: MessageView[]; not_before?: Timestamp | null; nudge?: string | null; parent?: TaskId | null; parts?: TaskId[]; phase: number; priority: number; profile?: string; proof?: Proof | null; reserve?: string[]; resolved?: Resolved[]; restarts?: number; retries: number; review_rounds: number; reviewer?: Reviewer; share?: string[]; size?: Size | null; stage: string; started: boolean; status: Status; tags: string[]; title: string; transient_retries: number; unblocks: TaskId[]; usage: Usage; waived: Gate[]; why?: string | null };

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Timestamp = string;

export type TrunkEntry = { kind: TrunkKind; name: string };

/** Lines of a file. */
export type TrunkFile = { causes: CauseView[]; lines: TrunkLine[]; lines_total: number; unshown?: string | null };

export type TrunkKind = "folder" | "file" | "link" | "submodule";

export type TrunkLine = { cause: number; n: number; text: string };

export type TrunkMove = ({ how: "set"; new: Oid } | { how: "rebuild"; pick: Oid[]; revert: Oid[] }) & { branch: string; old: Oid };

/** A folder of trunk, or some lines of a file with what brought each of them. */
export type TrunkView = { commit: Oid; cut?: boolean; entries?: TrunkEntry[] | null; file?: TrunkFile | null; path: string; trunk: string };

/** What a run has cost, as far as the program says. */
export type Usage = { cachedTokens?: number; costMicros?: number; estimatedMicros?: number; inputTokens?: number; outputTokens?: number; steps?: number };

/** What a person could ask for now. */
export type Verb = "start" | "stop" | "kill" | "redirect" | "block" | "unblock" | "edit" | "message" | "defer" | "cancel" | "rollback_task" | "review" | "pause" | "resume" | "mode" | "checkpoint" | "rollback_session" | "undo" | "redo";

/** What a person thinks of submitted work. */
export type Verdict = { approve: { left_out?: Oid | null; tip: Oid } } | { needs_changes: { notes: ReviewNote[] } };

/** What one member says. */
export type Voice = "APPROVE" | "REJECT" | "CONCERNS" | "ABSENT";

/** What resolved a conflict. */
export type Way = "whitespace" | "imports" | "same-lines" | "regenerated" | "commit-by-commit" | "as-a-whole" | "by-agent";

export type WorktreeMade = { branch: string; created: boolean; path: string; task: TaskId; tip: string };

/** What becomes of a task's worktree. */
export type WorktreeMove = ({ base?: Oid | null; dirty?: Oid | null; tip: Oid; to: "restored" } | { tip: Oid; to: "clean" } | { to: "gone" }) & { task: TaskId };

/** A worktree of the swarm, or a folder that lies among them. */
export type WorktreeView = { branch?: string | null; path: string; state: string; task?: TaskId | null; uncommitted?: number | null };

export type Worktrees = WorktreeView[];
