//! The names of spans and of what they say. Those that begin with `gen_ai` are OpenTelemetry's, which are in development:
//! a newer version of them changes this file and nothing else.

/// The version of the semantic conventions that the names are taken from.
pub const CONVENTIONS: &str = "1.41.0";
pub const CONVENTIONS_VERSION: &str = "swarm.semconv.version";

pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
pub const INVOKE_AGENT: &str = "invoke_agent";
pub const TASK: &str = "swarm.task";
pub const CHECK: &str = "swarm.check";
pub const REVIEW: &str = "swarm.review";
pub const MERGE: &str = "swarm.merge";
pub const BUILD: &str = "swarm.build";
pub const VERIFY: &str = "swarm.verify";
pub const PUBLISH: &str = "swarm.publish";
pub const OPERATION: &str = "swarm.operation";
pub const EXECUTE_TOOL: &str = "execute_tool";
pub const PLAN: &str = "plan";

pub const OPERATION_NAME: &str = "gen_ai.operation.name";
pub const WORKFLOW_NAME: &str = "gen_ai.workflow.name";
pub const AGENT_NAME: &str = "gen_ai.agent.name";
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
pub const TOOL_NAME: &str = "gen_ai.tool.name";
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub const ERROR_TYPE: &str = "error.type";

pub const COST: &str = "swarm.cost.usd";
pub const EPOCH: &str = "swarm.epoch";
pub const COORDINATORS: &str = "swarm.coordinators";
pub const LEDGER_ID: &str = "swarm.ledger.id";
pub const TASK_ID: &str = "swarm.task.id";
pub const ATTEMPT: &str = "swarm.attempt";
pub const RUN: &str = "swarm.run";
pub const PROGRAM: &str = "swarm.program";
pub const PROFILE: &str = "swarm.profile";
pub const ITERATION: &str = "swarm.iteration";
pub const ITERATIONS: &str = "swarm.iterations";
pub const OUTCOME: &str = "swarm.outcome";
pub const MEMBER: &str = "swarm.review.member";
pub const ROUND: &str = "swarm.review.round";
pub const COMMIT: &str = "swarm.commit";
pub const LEVEL: &str = "swarm.merge.level";
pub const OPERATION_ID: &str = "swarm.operation.id";
pub const OPERATION_KIND: &str = "swarm.operation.kind";
pub const SUBJECT: &str = "swarm.operation.subject";
pub const ASKED: &str = "swarm.plan.asked";
pub const UNFINISHED: &str = "swarm.unfinished";

/// Whose models a program asks; none where it lets its user choose.
pub fn provider_of(program: &str) -> Option<&'static str> {
    match program {
        "claude" => Some("anthropic"),
        "codex" => Some("openai"),
        "gemini" => Some("gcp.gemini"),
        _ => None,
    }
}
