# Code generated from the Go package client; DO NOT EDIT.

"""The types of requests and answers."""

from typing import Any, Literal, NotRequired, TypedDict

from omnigraph.values import Params, Row


class AccessAnswer(TypedDict):
    actor: str
    groups: list[str]
    branch: str
    # The actors that the policy names, sorted.
    actors: list[str]
    # A decision for each action and, for read and change, for each way of access.
    decisions: "list[AccessDecision]"
    # The tools of the graph and its stored queries.
    tools: "list[AccessTool]"


class AccessDecision(TypedDict):
    action: str
    via: NotRequired[str]
    query: NotRequired[str]
    # The source that the action is about. Without it, the action is about the sources that no rule names.
    source: NotRequired[str]
    # Whether the policy allows the action. In an answer about the caller, whether the server would: the protection of the branch and the scopes of the token count too.
    allowed: bool
    # In an answer about the caller: the action is allowed with a part of the branch only.
    partial: NotRequired[bool]
    # The rules that decided. If there are none, the action is denied because no rule allows it.
    rules: "list[AccessRule]"
    # The rules that would allow the action if one more condition held.
    near: NotRequired["list[NearRule]"]
    # What the rules show of each type. It is absent if no rule about the action is about a part of the graph, and for a denied action.
    parts: NotRequired["list[AccessPart]"]
    # Why no rule can decide, if that is so, or which actor of a call through an agent is not allowed.
    reason: NotRequired[str]


class AccessPart(TypedDict):
    type: str
    hidden: NotRequired[bool]
    # Why the type is hidden, if no rule that hides it says so.
    reason: NotRequired[str]
    # An entity is shown if it passes one filter of each list.
    rows: NotRequired[list[list[str]]]
    # An entity is hidden if it passes one of these filters.
    not_rows: NotRequired[list[str]]
    # The properties that are hidden.
    without: NotRequired[list[str]]
    rules: "list[AccessRule]"


class AccessRule(TypedDict):
    id: str
    deny: bool
    file: NotRequired[str]
    line: NotRequired[int]


class AccessTool(TypedDict):
    name: str
    title: str
    query: NotRequired[str]
    # tools/list shows the tool to the actor, because the actor may use it on some branch.
    visible: bool
    # The decisions about the permissions that the tool needs on the branch of the answer. A call may need more, depending on its arguments.
    needs: "list[AccessDecision]"


class ActorAnswer(TypedDict):
    actor_id: str
    # The agents that act for the actor, the current one first.
    agents: NotRequired[list[str]]
    groups: list[str]


class ActorTally(TypedDict):
    actor_id: str | None
    agents: NotRequired[list[str]]
    calls: int
    failed: int
    denied: int
    p99_micros: int


class AssistAnswer(TypedDict):
    # With diagnostics: the queries without errors.
    queries: NotRequired["list[AssistQuery]"]
    # The faults in the order of the text, at most 50.
    diagnostics: NotRequired["list[AssistDiagnostic]"]
    completion: NotRequired["AssistCompletion"]
    # Absent if there is no name at the place, or one that needs no explanation.
    hover: NotRequired["AssistHover"]


class AssistBody(TypedDict):
    # Queries in GQ; the text need not be right.
    text: str
    # What to answer; the default is diagnostics.
    ask: NotRequired[Literal["diagnostics", "completion", "hover"] | None]
    # For completion and hover: the place in the text, in UTF-16 code units from its start.
    position: NotRequired[int | None]
    # The branch whose schema counts; the default is main.
    branch: NotRequired[str | None]
    # The commit whose schema counts, instead of a branch; or an instant, as in a query.
    snapshot: NotRequired[str | None]


AssistCompletion = TypedDict(
    "AssistCompletion",
    {
        "from": int,
        "to": int,
        "items": "list[AssistItem]",
    },
)


AssistDiagnostic = TypedDict(
    "AssistDiagnostic",
    {
        "from": int,
        "to": int,
        "severity": Literal["error", "warning", "note"],
        "code": str,
        "message": str,
        # How to fix it.
        "help": NotRequired[str],
        # Changes that fix it and keep the meaning of the query.
        "edits": NotRequired["list[AssistEdit]"],
    },
)


AssistEdit = TypedDict(
    "AssistEdit",
    {
        "from": int,
        "to": int,
        "text": str,
    },
)


AssistHover = TypedDict(
    "AssistHover",
    {
        "from": int,
        "to": int,
        "code": str,
        # Its description in the schema.
        "doc": NotRequired[str],
    },
)


class AssistItem(TypedDict):
    label: str
    # Such as node, property or keyword.
    kind: str
    # Such as its type.
    detail: NotRequired[str]
    # Its description in the schema.
    doc: NotRequired[str]


AssistLink = TypedDict(
    "AssistLink",
    {
        "from": str,
        "to": str,
        "edge": str,
    },
)


class AssistNode(TypedDict):
    column: str
    type: str


class AssistQuery(TypedDict):
    name: str
    mutation: bool
    params: "list[ParamEntry]"
    # The columns of a read whose values are nodes or ids of nodes.
    nodes: NotRequired["list[AssistNode]"]
    # The edges between the nodes of a row that the match wants.
    links: NotRequired["list[AssistLink]"]


class AuditAnswer(TypedDict):
    # The calls, the latest first.
    records: "list[AuditRecord]"
    # Send it as page_token for earlier calls; null if there are none.
    next_page_token: str | None


class AuditRecord(TypedDict):
    # When the call ended, in Unix microseconds.
    ended_at: int
    duration_micros: int
    actor_id: str | None
    agents: NotRequired[list[str]]
    tool: str
    branch: NotRequired[str]
    # What the policy decided.
    decision: Literal["allowed", "denied"]
    denied_action: NotRequired[str]
    # The rules that allowed the call or denied the action. A denied call without rules is one that no rule allows.
    rules: NotRequired[list[str]]
    outcome: str
    rows: int
    # The ids of the first 100 entities of the answer.
    entities: NotRequired[list[str]]
    # The number of further entities, of which the trail has hashes.
    more_entities: NotRequired[int]
    # The answer may have values of any entity of the branch; the trail does not list them.
    whole_branch: NotRequired[bool]
    # The answer may have had the entity of the request: one of the hashes fits, or whole_branch is true.
    possibly: NotRequired[bool]
    graph_commit_id: str | None
    types: NotRequired[list[str]]
    filters: NotRequired[list[str]]
    # A keyed digest of the arguments: calls of a tool with equal arguments have equal digests.
    arguments_digest: NotRequired[str]
    # The arguments, if server.audit.values is true.
    arguments: NotRequired[Any]
    request_id: NotRequired[str]
    server: str
    number: int


AuditSummary = TypedDict(
    "AuditSummary",
    {
        "from": int,
        "to": int,
        # Every call was counted; otherwise only the latest ones, at most 200,000.
        "complete": bool,
        "all": "CallTally",
        # The 24 hours, the oldest first.
        "hours": "list[HourTally]",
        # The 50 tools with the most calls, the most called first.
        "tools": "list[ToolTally]",
        # The 50 actors with the most calls, the most active first.
        "actors": "list[ActorTally]",
    },
)


class BaselineBody(TypedDict):
    # The branch; the default is main.
    branch: NotRequired[str | None]
    # List only nodes (node), or only edges (edge); both by default.
    kind: NotRequired[list[str] | None]
    # List only entities of these types; all types by default.
    type: NotRequired[list[str] | None]
    # The kinds of change that the subscriber reads: insert, update, delete; all by default. An entity of the baseline counts as an insert, so without insert the baseline has no entities.
    op: NotRequired[list[str] | None]


BranchBody = TypedDict(
    "BranchBody",
    {
        # Letters, digits and _ - . in segments separated by /, such as review/june.
        "name": str,
        # The branch whose head the new branch starts from; the default is main.
        "from": NotRequired[str | None],
        # A commit to start from instead of a head. It must be in the history of from or, without from, made on a branch that the caller may read.
        "from_commit": NotRequired[str | None],
    },
)


BranchCreated = TypedDict(
    "BranchCreated",
    {
        "uri": str,
        "from": str,
        "name": str,
        "actor_id": str | None,
        # The commit that the branch starts from.
        "graph_commit_id": str,
    },
)


class BranchDeleted(TypedDict):
    uri: str
    name: str
    actor_id: str | None


class BranchDraft(TypedDict):
    owner: str
    # The agents to whom it belongs when they act for the owner, the current one first.
    agents: NotRequired[list[str]]
    # The name that the owner gave the draft: NAME of draft/NAME. An owner's first draft has none.
    name: NotRequired[str]
    # proposed if an open proposal needs the draft. Such a draft does not expire.
    state: Literal["open", "proposed"]
    # When the draft is deleted if nobody writes to it, in Unix microseconds.
    expires_at: NotRequired[int]


class BranchHead(TypedDict):
    name: str
    graph_commit_id: str
    # The actor who made the commit; null if the commit has none.
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # The time of the commit in Unix microseconds.
    created_at: int
    # Only if the branch is a draft.
    draft: NotRequired["BranchDraft"]


class BranchList(TypedDict):
    # The names of the branches that the caller may read, in order.
    branches: list[str]
    # The last commit of each branch.
    heads: "list[BranchHead]"
    # There are more branches; send it as page_token to list them.
    next_page_token: NotRequired[str]


class CallTally(TypedDict):
    calls: int
    failed: int
    denied: int
    p99_micros: int


class ChangeBlock(TypedDict):
    # The commit that made the changes.
    cause: "ChangeCause"
    # How the commit changed the schema; null if it did not. Only the first part of a commit has it.
    schema_change: "SchemaEvent | None"
    # Nodes, then edges, each by the name of the type and by id.
    changes: "list[EntityChange]"


class ChangeCause(TypedDict):
    graph_commit_id: str
    parent_commit_id: str | None
    merged_parent_commit_id: str | None
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # In Unix microseconds.
    authored_at: int
    # The branch that the commit was made on.
    authored_branch: str
    # What the author says about the commit.
    message: NotRequired[str]


class ChangeCounts(TypedDict):
    inserted: int
    updated: int
    deleted: int


class ChangeDiffRefusal(TypedDict):
    graph_commit_id: str
    # parentless_commit: the commit has no parent to compare it with. schema_boundary: the schemas of the commit and of its parent differ.
    reason: Literal["parentless_commit", "schema_boundary"]
    # The first type that differs between the two schemas; null if no type does.
    type_name: str | None


class ChangeFeed(TypedDict):
    # The commits of the branch after the cursor of the request, the oldest first. Commits without a selected change are left out if the request has a filter.
    blocks: "list[ChangeBlock]"
    # The page ends at the head of the branch.
    caught_up: bool
    # Send it as cursor to continue after this page. It stays valid as long as the server keeps the history after it. Null if the page ends within a commit.
    cursor: str | None
    # The page ends within a commit; send it as page_token to continue. Null if the page ends after a whole commit.
    next_page_token: str | None


class ChangeFeedGap(TypedDict):
    first_unreadable_commit_id: str
    # Null: only a new baseline gives a cursor that continues after the gap.
    cursor: str | None


class ChangedType(TypedDict):
    # Stays the same when the type is renamed.
    id: str
    # The name at the commit.
    name: str


class ChangesAnswer(TypedDict):
    # The commit that made the changes.
    cause: "ChangeCause"
    # Nodes, then edges, each by the name of the type and by id.
    changes: "list[EntityChange]"
    # There are more changes; send it as page_token to list them. Null on the last page.
    next_page_token: str | None


class CheckResult(TypedDict):
    # The stored query; empty if the caller may not invoke it.
    query: str
    # What the check demands, such as: Every decision rests on a document.
    title: str
    # failed: the query returned rows. unfinished: the query reached a limit or could not run, so the check counts as not passed.
    outcome: Literal["passed", "failed", "unfinished"]
    # Why the check is unfinished; null otherwise.
    reason: str | None
    # The first rows that a failed check returned, at most 20. Left out if the caller may not invoke the query.
    rows: NotRequired[list[Row]]
    # The query returned more rows.
    more_rows: NotRequired[bool]


class ChecksAnswer(TypedDict):
    branch: str
    graph_commit_id: str
    # In the order of the stored queries. Empty if the graph has no checks.
    checks: "list[CheckResult]"


class CleanedUp(TypedDict):
    # The number of commits that became unreadable.
    commits_reclaimed: int
    commits_kept: int
    files_removed: int
    bytes_freed: int
    # Nothing was reclaimed; the answer says what the cleanup would do.
    dry_run: bool


class CleanupBody(TypedDict):
    """Needs at least one of keep_commits, keep_since."""

    # Keep this many commits of each branch, including its head.
    keep_commits: NotRequired[int | None]
    # Keep the commits that are not older than this. With both members, a commit is kept if either member keeps it.
    keep_since: NotRequired[str | None]
    # Report what the cleanup would reclaim, and change nothing.
    dry_run: NotRequired[bool | None]


class CommentPlace(TypedDict):
    entity_kind: Literal["node", "edge"]
    type_name: str
    id: str


class CommitAnswer(TypedDict):
    graph_commit_id: str
    # The branch that the commit was made on.
    graph_branch: str
    # Its number on its branch, from 1.
    graph_manifest_version: int
    parent_commit_id: str | None
    merged_parent_commit_id: str | None
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # In Unix microseconds.
    created_at: int
    # What its author says about it. Callers who may see a part of the branch only do not get it.
    message: NotRequired[str]


class CommitList(TypedDict):
    # The newest first.
    commits: "list[CommitAnswer]"
    # There are older commits; send it as before to list them. Null on the last page.
    next_before: int | None
    # There are older commits; send it as page_token to list them.
    next_page_token: NotRequired[str]


class ConflictResolution(TypedDict):
    entity_kind: Literal["node", "edge"]
    type_name: str
    id: str
    # Left out for a conflict about the whole entity.
    property: NotRequired[str | None]
    # ours keeps the target, theirs takes the source, value sets the property to value.
    take: Literal["ours", "theirs", "value"]
    # For take: value. Null removes the value.
    value: NotRequired[Any]


class Dataset(TypedDict):
    type_name: str
    entity_kind: Literal["node", "edge"]
    entity_count: int
    # The sequence number of the commit that it is read at.
    published_dataset_version: int
    # The name of the type.
    dataset_path: str
    # Null: branches share what they hold.
    native_dataset_branch: str | None


class Diagnostic(TypedDict):
    code: str
    severity: Literal["error", "warning", "note"]
    span: "Span"
    message: str
    help: NotRequired[str]


class DraftClosed(TypedDict):
    outcome: str
    merge_commit_id: NotRequired[str]
    by: str


EdgeEndpoints = TypedDict(
    "EdgeEndpoints",
    {
        # The node where the edge starts: its id, or an object with its type and id if the schema declares an interface there.
        "from": str | Row,
        # The node where the edge ends: its id, or an object with its type and id if the schema declares an interface there.
        "to": str | Row,
    },
)


class EntityChange(TypedDict):
    kind: Literal["node", "edge"]
    type: "ChangedType"
    id: str
    op: Literal["insert", "update", "delete"]
    # The entity before the commit; null if the commit inserted it.
    before: "EntityImage | None"
    # The entity after the commit; null if the commit deleted it.
    after: "EntityImage | None"


class EntityImage(TypedDict):
    # All properties of the type by name; null where the entity has no value.
    properties: Row
    # The ends of an edge; null for a node.
    endpoints: "EdgeEndpoints | None"


class EntityPlace(TypedDict):
    entity_kind: Literal["node", "edge"]
    type_name: str
    id: str


class Envelope(TypedDict):
    error: str
    code: NotRequired[Literal["unauthorized", "forbidden", "bad_request", "not_found", "method_not_allowed", "conflict", "too_many_requests", "internal"]]
    key_conflict: NotRequired["KeyConflict"]
    resource_limit: NotRequired["Limit"]
    precondition_failure: NotRequired["Precondition"]
    diagnostics: NotRequired["list[Diagnostic]"]
    line_faults: NotRequired["list[LineFault]"]
    more_line_faults: NotRequired[bool]
    change_diff_refusal: NotRequired["ChangeDiffRefusal"]
    change_feed_gap: NotRequired["ChangeFeedGap"]
    proposal_feed_gap: NotRequired["ProposalFeedGap"]
    draft_closed: NotRequired["DraftClosed"]
    merge_conflicts: NotRequired["list[MergeConflict]"]
    merge_conflict_count: NotRequired[int]


class ExplainBody(TypedDict):
    # The GQ text; it may contain several queries.
    query: str
    # The name of the query to explain, if the text contains several.
    name: NotRequired[str | None]
    # The query's parameters by name, without the $; only analyze needs them.
    params: NotRequired[Params | None]
    # The branch whose schema and data the plan is for; the default is main.
    branch: NotRequired[str | None]
    # Run the read, and report rows and time of each operator.
    analyze: NotRequired[bool | None]


class Explained(TypedDict):
    query_name: str
    kind: Literal["read", "mutation"]
    branch: str
    # The commit whose data the estimates are for.
    graph_commit_id: str
    # The server ran the read, so rows and time_ns are set.
    analyzed: bool
    # What the query uses of its caller, such as actor().id. The rows are those of the caller.
    caller: NotRequired[list[str]]
    # The parts of the schema that the query reads or changes.
    touches: "list[Touched]"
    # The operators, starting with the one that returns the result. An operator reads the rows of the operators that follow it one level deeper.
    plan: "list[PlanStep]"
    # The plan as an indented tree.
    text: str


class ExportBody(TypedDict):
    # The branch to export; the default is main.
    branch: NotRequired[str | None]
    # The commit to export, instead of a branch; or an instant, as in a query.
    snapshot: NotRequired[str | None]
    # The node and edge types to export; the default is all.
    type_names: NotRequired[list[str] | None]


class GraphEntry(TypedDict):
    graph_id: str
    uri: str


class GraphList(TypedDict):
    graphs: "list[GraphEntry]"


class GraphReadiness(TypedDict):
    graph_id: str
    status: Literal["serving", "failing", "quarantined"]
    # Why it is failing or quarantined.
    reason: NotRequired[str]
    # Only with shared storage: whether this server writes the graph, reads it, opens it at the moment, or has it closed because it is not in use.
    role: NotRequired[Literal["reader", "writer", "absent", "idle"]]
    # Only with shared storage: the number of takeovers of the graph so far, as far as this server knows.
    epoch: NotRequired[int]
    # Only with shared storage: the milliseconds since this server last knew every commit.
    lag_ms: NotRequired[int]
    # Only on a reader: the name of the server that writes the graph.
    writer: NotRequired[str]
    # Its live schema differs from the schema of the applied revision.
    drift: bool
    left_out: "list[LeftOutQuery]"


class Growth(TypedDict):
    # The oldest first; the last one is the head. Commits whose states a cleanup removed may be absent, and those of another branch are if the caller may not read as much there.
    points: "list[GrowthPoint]"


class GrowthPoint(TypedDict):
    graph_commit_id: str
    # When the commit was made, in Unix microseconds.
    created_at: int
    nodes: int
    edges: int


class Health(TypedDict):
    status: str
    # The version of the server.
    version: str
    # The commit of the source code that the server was built from; null where the build does not record it.
    source_version: str | None
    # How many graphs are served.
    graphs: int
    # The version of the layout of the graphs' own records.
    internal_schema_version: int


HourTally = TypedDict(
    "HourTally",
    {
        # The start of the hour, in Unix microseconds.
        "from": int,
        "calls": int,
        "failed": int,
        "denied": int,
        "p99_micros": int,
    },
)


class ImportBody(TypedDict):
    # The name of the file, which ends in .csv or .tsv.
    file_name: str
    # The map, as in an import.yaml. It has one source, which is the file.
    map: str
    # The branch to import into; the default is main.
    branch: NotRequired[str | None]
    # merge, the default, replaces entities that exist; patch changes only the properties that the map sets, and null clears; append fails on entities that exist.
    mode: NotRequired[Literal["merge", "patch", "append"] | None]
    # With merge and patch: edges are new edges if no @unique(src, dst) identifies them.
    new_edges: NotRequired[bool | None]
    # Commit nothing; report what the import would do.
    dry_run: NotRequired[bool | None]


class ImportColumn(TypedDict):
    name: str
    property: str
    # The type of the values, as a schema writes it.
    type: str
    optional: bool
    values: int
    # The number of different values; 0 if they are too many or too long to count.
    distinct: int
    samples: list[str]
    note: NotRequired[str]
    # What a map sets a property to that has the values of the column.
    reads: Row


class ImportProposal(TypedDict):
    rows: int
    columns: "list[ImportColumn]"
    # The columns that identify the rows; none if no column does.
    key: list[str]
    key_evidence: NotRequired[str]
    # A map of the table to types of the graph, which is an import.yaml as JSON; empty if no type fits.
    map: str
    # A type for the table, for a graph that has none.
    schema_source: str


class InferBody(TypedDict):
    # The name of the file, which ends in .csv or .tsv, and suggests the name of a type.
    file_name: str
    # The branch whose schema the map is for; the default is main.
    branch: NotRequired[str | None]


class InvokeBody(TypedDict):
    # The query's parameters by name, without the $.
    params: NotRequired[Params | None]
    # The branch to use; the default is main.
    branch: NotRequired[str | None]
    # For a read, the commit to read, instead of a branch; or an instant, as in a query.
    snapshot: NotRequired[str | None]
    # With true, fail unless the query is a mutation; with false, fail unless it is a read.
    expect_mutation: NotRequired[bool | None]
    # For a read, the maximum number of rows; the default is as many as fit in one answer. With it the answer also says when the query's own limit left rows out.
    max_rows: NotRequired[int | None]
    # For a read, the next_page_token of the previous page.
    page_token: NotRequired[str | None]
    # For a mutation, commit nothing and report what it would change.
    dry_run: NotRequired[bool | None]


class KeptNode(TypedDict):
    type: str
    id: str


class KeyConflict(TypedDict):
    entity_kind: str
    type_name: str
    id: str


class LeftOutQuery(TypedDict):
    name: str
    reason: str


class Limit(TypedDict):
    resource: str
    limit: int
    actual: int


class LineFault(TypedDict):
    line: int
    field: NotRequired[str]
    message: str


class LoadAnswer(TypedDict):
    # The branch that was loaded into.
    branch: str
    # The branch that the load created it from; null if it existed.
    base_branch: str | None
    branch_created: bool
    mode: Literal["merge", "patch", "append", "overwrite", "sync"]
    nodes: "list[LoadedType]"
    edges: "list[LoadedType]"
    total_entities: int
    # The draft that was loaded into; only for a draft.
    target: NotRequired["WriteTarget"]
    # The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch.
    node_changes: NotRequired["ChangeCounts"]
    # The affected edges by kind.
    edge_changes: NotRequired["ChangeCounts"]
    # In a dry run, the first ten changes with the entity before and after.
    changes: NotRequired["list[EntityChange]"]
    # In a dry run, there are more changes than changes lists.
    more_changes: NotRequired[bool]
    # What to know about the write, such as that an insert replaced a node, or why nothing changed.
    notes: NotRequired[list[str]]
    # The commit; null if nothing changed, and in a dry run.
    commit: "CommitAnswer | None"
    actor_id: str | None
    # Nothing was committed; the answer says what the write would do.
    dry_run: NotRequired[bool]
    # What the mode sync, or a load of changes of a followed source, did beyond the lines.
    sync: NotRequired["SyncAnswer"]
    # The position of the followed database after the load; only for a load with followed.
    position: NotRequired[str]


LoadBody = TypedDict(
    "LoadBody",
    {
        # The lines of NDJSON as one string, with a line feed after each.
        "data": str,
        # The branch to load into; the default is main.
        "branch": NotRequired[str | None],
        # The branch from which the server creates branch, if branch does not exist. The server deletes it again if the load fails.
        "from": NotRequired[str | None],
        # merge, the default, replaces entities that exist; patch changes only the properties in the data, and null clears; append fails on entities that exist; overwrite first removes every entity of the types that occur in the data; sync does as patch, and lets go of what its source claimed before and lacks now.
        "mode": NotRequired[Literal["merge", "patch", "append", "overwrite", "sync"] | None],
        # With merge and patch: edges without an id are new edges if no @unique(src, dst) identifies them.
        "new_edges": NotRequired[bool | None],
        # With merge and patch: of several lines with one entity the last stands. Otherwise they are a fault.
        "last_wins": NotRequired[bool | None],
        # Commit nothing; report what the load would do.
        "dry_run": NotRequired[bool | None],
        # With sync: the name of the source.
        "source": NotRequired[str | None],
        # With sync: the types in which what the source claimed, and the data lack, is let go; it is deleted if a source created it and none claims it any more.
        "types": NotRequired[list[str] | None],
        # With sync: properties, as Type.property, that stay as they are where another source owns them.
        "yield": NotRequired[list[str] | None],
        # With sync: delete nodes together with edges that the source does not own.
        "cascade": NotRequired[bool | None],
        # With sync: the number of entities to delete, if it is more than a fifth of a type's claimed entities.
        "approve_deletes": NotRequired[int | None],
    },
)


class LoadedType(TypedDict):
    name: str
    entities_loaded: int


class MergeAnswer(TypedDict):
    source: str
    target: str
    outcome: Literal["already_up_to_date", "fast_forward", "merged"]
    # The source was deleted.
    branch_deleted: bool
    # Why the server could not delete the source after the merge; null if it did not fail.
    branch_delete_error: str | None
    affected_nodes: int
    affected_edges: int
    # The commit on the target; null if nothing changed, and in a dry run.
    graph_commit_id: str | None
    actor_id: str | None
    # Nothing was committed; the answer says what the write would do.
    dry_run: NotRequired[bool]


class MergeBody(TypedDict):
    # The branch to merge.
    source: str
    # The branch to merge into; the default is main.
    target: NotRequired[str | None]
    # Delete the source after the merge; this needs branch_delete.
    delete_branch: NotRequired[bool | None]
    # Report what the merge would do, including conflicts, and change nothing.
    dry_run: NotRequired[bool | None]


class MergeConflict(TypedDict):
    kind: str
    entity_kind: str
    type_name: str
    id: str
    property: NotRequired[str]
    message: str
    # For delete_vs_update of a node: the number of edges that the deletion took with it.
    edges: NotRequired[int]


class MutateBody(TypedDict):
    """Needs exactly one of query, query_source."""

    # The GQ text; it may contain several queries. Send either query or query_source.
    query: NotRequired[str | None]
    # Another name for query.
    query_source: NotRequired[str | None]
    # The name of the query to run, if the text contains several.
    name: NotRequired[str | None]
    # Another name for name.
    query_name: NotRequired[str | None]
    # The query's parameters by name, without the $.
    params: NotRequired[Params | None]
    # The branch to write to; the default is main.
    branch: NotRequired[str | None]
    # Commit nothing; report what the mutation would change.
    dry_run: NotRequired[bool | None]


class MutationAnswer(TypedDict):
    branch: str
    query_name: str
    affected_nodes: int
    affected_edges: int
    actor_id: str | None
    # The commit; null if nothing changed, and in a dry run.
    commit: "CommitAnswer | None"
    # Nothing was committed; the answer says what the write would do.
    dry_run: NotRequired[bool]
    # The draft that was written to; only for a draft.
    target: NotRequired["WriteTarget"]
    # The one row that the mutation returns; absent if it returns none.
    rows: NotRequired[list[Row]]
    # The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch.
    node_changes: NotRequired["ChangeCounts"]
    # The affected edges by kind.
    edge_changes: NotRequired["ChangeCounts"]
    # In a dry run, the first ten changes with the entity before and after.
    changes: NotRequired["list[EntityChange]"]
    # In a dry run, there are more changes than changes lists.
    more_changes: NotRequired[bool]
    # What to know about the write, such as that an insert replaced a node, or why nothing changed.
    notes: NotRequired[list[str]]


class NearRule(TypedDict):
    id: str
    deny: bool
    file: NotRequired[str]
    line: NotRequired[int]
    missing: str


class NodeHistory(TypedDict):
    # The commits that changed the node, the newest first.
    versions: "list[NodeVersion]"
    # The number of commits in which the server looked for changes.
    examined: int
    # There are older commits; send it as before to continue with them. Null if there are none, and if their state was reclaimed.
    next_before: int | None
    # A cleanup reclaimed the state of older commits, so the history does not go back to the first commit.
    reclaimed: bool


class NodeVersion(TypedDict):
    commit: "CommitAnswer"
    op: Literal["insert", "update", "delete"]
    # The node before the commit, without Blobs; null if the commit inserted it.
    before: "EntityImage | None"
    # The node after the commit, without Blobs; null if the commit deleted it.
    after: "EntityImage | None"


class OwnedWebhook(TypedDict):
    watch_id: str
    owner: str
    query: str
    branch: str
    # The host of the address, without the path, which may be secret.
    host: str
    state: Literal["active", "retrying", "paused"]
    # How many events could not be delivered.
    undelivered: int
    # In Unix microseconds.
    created_at: int
    # The last call of the owner that counts for its rights, in Unix microseconds.
    called_at: int


class ParamEntry(TypedDict):
    name: str
    kind: Literal["string", "bool", "int", "bigint", "float", "date", "datetime", "blob", "vector", "duration", "decimal", "list", "record"]
    item_kind: NotRequired[str]
    vector_dim: NotRequired[int]
    nullable: bool
    node: NotRequired[str]
    interface: NotRequired[str]
    description: NotRequired[str]
    # Any JSON value.
    default: NotRequired[Any]
    # Any JSON value.
    minimum: NotRequired[Any]
    # Any JSON value.
    maximum: NotRequired[Any]


class PlanStep(TypedDict):
    depth: int
    name: str
    # What the operator reads: type, index, direction, condition.
    detail: NotRequired[str]
    # The number of rows that the engine expects from the operator.
    estimate: float
    # The number of rows that it returned.
    rows: NotRequired[int]
    # The nanoseconds that the operator took, without the operators below it.
    time_ns: NotRequired[int]


class Pos(TypedDict):
    offset: int
    line: int
    column: int


class Precondition(TypedDict):
    expected: str
    actual: str | None


PropertyEntry = TypedDict(
    "PropertyEntry",
    {
        "name": str,
        # As the schema spells it; a ? at the end says that it may be null.
        "type": str,
        # The kind of the value, or of the elements of a list, such as String, I32, Date or Blob.
        "kind": str,
        "list": bool,
        "enum": NotRequired[list[str]],
        "description": NotRequired[str],
    },
)


class ProposalAnswer(TypedDict):
    id: str
    # Counts the stored versions of the proposal, from 1.
    revision: int
    state: Literal["open", "merged", "closed"]
    # The query that the proposal is about. Such a proposal has no source, and its target is main.
    query_name: NotRequired[str]
    source: str
    target: str
    title: str
    # The actor who opened the proposal; null if not known.
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # In Unix microseconds.
    created_at: int
    # The time of the last event, in Unix microseconds.
    updated_at: int
    description: str
    # The commit on the target; null unless the proposal is merged.
    merge_commit_id: str | None
    # How the merge resolves conflicts.
    resolutions: "list[ProposalResolution]"
    # What happened to the proposal, oldest first.
    events: "list[ProposalEvent]"
    # The compared commit of the source: its head, or for a proposal that is merged or closed, its last one.
    source_commit_id: str
    # The compared commit of the target.
    target_commit_id: str
    # The merge base of the two commits.
    base_commit_id: str
    # Identifies the changes and the resolutions. An approval counts for one digest. Empty if the branches cannot be compared; then the commits are those of the last event.
    digest: str
    # Numbers of nodes that the merge changes on the target, or has changed there. While there are conflicts without a resolution: that the source has changed since the merge base.
    nodes: "ChangeCounts"
    # The same for edges.
    edges: "ChangeCounts"
    # The first conflicts without a resolution: at most a hundred, and at most 8 MiB of values.
    conflicts: "list[ProposalConflict]"
    # The number of all conflicts without a resolution.
    conflict_count: int
    # The proposed query, for a proposal that is about one.
    query: NotRequired["ProposedQuery"]
    # The outcomes of the graph's checks on the result of the merge, in the order of their queries. Empty if the proposal is not open.
    checks: "list[CheckResult]"
    # The actors whose approval counts for the digest.
    approved_by: list[str]
    # The actors who asked for changes to this digest.
    changes_requested_by: list[str]
    # What must happen before the merge, as sentences. Empty if the proposal can be merged or is not open.
    blockers: list[str]
    # About a digest that the request sent as null: the step then ran whatever the digest was.
    notes: NotRequired[list[str]]


class ProposalBody(TypedDict):
    # The branch with the changes.
    source: str
    # The branch that gets the changes; the default is main.
    target: NotRequired[str | None]
    title: str
    # Why the changes are good, for the reviewer.
    description: NotRequired[str | None]


class ProposalChangeBody(TypedDict):
    title: NotRequired[str | None]
    description: NotRequired[str | None]
    # Each replaces the earlier resolution of the same conflict.
    resolutions: NotRequired["list[ConflictResolution] | None"]
    # Change the proposal only if this is its digest. Otherwise the answer is 409, and nothing changes.
    digest: NotRequired[str | None]
    comment: NotRequired[str | None]


class ProposalChanges(TypedDict):
    source_commit_id: str
    base_commit_id: str
    # The head of the target in the comparison. before is the state of this commit.
    target_commit_id: str
    # target_to_result: before is the target, and after the result of the merge. base_to_source: there is no result yet, because of conflicts or of the schemas; before is the merge base, and after the source.
    compares: Literal["target_to_result", "base_to_source"]
    # New and deleted nodes, then changed nodes, then edges, each by the name of the type and by id.
    changes: "list[ProposedChange]"
    # There are more changes; send it as page_token to list them. The pages compare the same commits. Null on the last page.
    next_page_token: str | None


class ProposalCloseBody(TypedDict):
    comment: NotRequired[str | None]


class ProposalConflict(TypedDict):
    kind: str
    entity_kind: str
    type_name: str
    id: str
    # Empty if the conflict is about the whole entity.
    property: str
    message: str
    # For delete_vs_update of a node: the number of edges that the deletion took with it. They stay if a resolution keeps the node, except those that the other side changed, which are conflicts of their own, and those whose other end is deleted too.
    edges: NotRequired[int]
    # A resolution can resolve the conflict. Otherwise, change one of the branches.
    resolvable: bool
    # The property, or the whole entity, in the merge base; null if the entity does not exist there.
    base: "EntityImage | None"
    # The same in the target.
    ours: "EntityImage | None"
    # The same in the source.
    theirs: "EntityImage | None"


class ProposalEvent(TypedDict):
    kind: Literal["opened", "changed", "commented", "approved", "changes_requested", "merged", "closed", "resolved"]
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # In Unix microseconds.
    created_at: int
    comment: str
    # The digest that the actor saw; empty for a step without one.
    digest: str
    # The entity that the comment is about; null for the whole proposal.
    on: "EntityPlace | None"


class ProposalFeed(TypedDict):
    # The events after the cursor of the request, the oldest first.
    events: "list[ProposalFeedEvent]"
    # The page ends with the last event.
    caught_up: bool
    # Send it as cursor to continue after this page. It stays valid until a cleanup removes a proposal with a later event.
    cursor: str


class ProposalFeedEvent(TypedDict):
    # The id of the event. It is also a cursor.
    id: str
    proposal_id: str
    kind: Literal["opened", "changed", "commented", "approved", "changes_requested", "merged", "closed", "resolved"]
    # The state of the proposal right after the event.
    state: Literal["open", "merged", "closed"]
    source: str
    target: str
    # The title of the proposal now, which may be later than the event.
    title: str
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # In Unix microseconds.
    created_at: int
    comment: str
    # The digest that the actor saw or, for resolved, the new digest; empty for an event without one.
    digest: str
    # The entity that the comment is about; null for the whole proposal.
    on: "EntityPlace | None"
    # The commit of the merge; null unless the kind is merged.
    merge_commit_id: str | None


class ProposalFeedGap(TypedDict):
    # The oldest cursor with which the feed can continue. The events before it may be incomplete.
    oldest_cursor: str


class ProposalList(TypedDict):
    # The newest first.
    proposals: "list[ProposalSummary]"
    # There are older proposals; send it as page_token to list them.
    next_page_token: NotRequired[str]


class ProposalMergeBody(TypedDict):
    # Merge only if this is the digest of the proposal; otherwise the answer is 409.
    digest: NotRequired[str | None]
    comment: NotRequired[str | None]
    # Of the commit; the default is the title of the proposal.
    message: NotRequired[str | None]


class ProposalResolution(TypedDict):
    entity_kind: Literal["node", "edge"]
    type_name: str
    id: str
    # Empty if the conflict is about the whole entity.
    property: str
    # ours keeps the target, theirs takes the source, value sets the property to value.
    take: Literal["ours", "theirs", "value"]
    # The value; null for ours and theirs, and for no value.
    value: Any


class ProposalReviewBody(TypedDict):
    decision: Literal["approve", "request_changes", "comment"]
    # The digest of the proposal that the reviewer saw. approve and request_changes need it. If the digest is another one by now, the answer is 409.
    digest: NotRequired[str | None]
    comment: NotRequired[str | None]
    # For comment: the entity that the comment is about.
    on: NotRequired["CommentPlace | None"]


class ProposalSummary(TypedDict):
    id: str
    # Counts the stored versions of the proposal, from 1.
    revision: int
    state: Literal["open", "merged", "closed"]
    # The query that the proposal is about. Such a proposal has no source, and its target is main.
    query_name: NotRequired[str]
    source: str
    target: str
    title: str
    # The actor who opened the proposal; null if not known.
    actor_id: str | None
    # The agents that acted for the actor, the current one first.
    agents: NotRequired[list[str]]
    # In Unix microseconds.
    created_at: int
    # The time of the last event, in Unix microseconds.
    updated_at: int


class ProposedChange(TypedDict):
    kind: Literal["node", "edge"]
    type: "ChangedType"
    id: str
    op: Literal["insert", "update", "delete"]
    # The entity before the commit; null if the commit inserted it.
    before: "EntityImage | None"
    # The entity after the commit; null if the commit deleted it.
    after: "EntityImage | None"
    # changes: the merge changes the target. already_there: the target already has what the source changed. kept: a resolution keeps the target, so the change of the source is lost. undecided: there is no result yet. For already_there and kept, op is what the source did, and before and after are both the state of the target.
    effect: Literal["changes", "already_there", "kept", "undecided"]


class ProposedQuery(TypedDict):
    name: str
    # The text with the description and the questions, as gq pull writes it.
    text: str
    # The number of rows that the operators of the plan are expected to yield, in total.
    cost: float
    # The plan with its estimates as an indented tree; empty if the query does not fit the schema.
    plan: str
    # An answer that the server computed for this viewer, on main; null if the query does not fit the schema.
    example: "QueryExample | None"
    # Names of the stored queries that the viewer may run and that resemble it most.
    resembles: list[str]
    # What gq lint says of the text.
    findings: list[str]
    # What gq breaking says of the merge.
    changes: list[str]


class PublishedQueries(TypedDict):
    # By name.
    queries: "list[PublishedQuery]"


class PublishedQuery(TypedDict):
    name: str
    text: str
    proposal_id: str


class QueryBody(TypedDict):
    # The GQ text; it may contain several queries.
    query: str
    # The name of the query to run, if the text contains several.
    name: NotRequired[str | None]
    # The query's parameters by name, without the $.
    params: NotRequired[Params | None]
    # The branch to read; the default is main.
    branch: NotRequired[str | None]
    # The commit to read, instead of a branch; or an instant such as 2026-05-01T12:00:00Z: the last commit of the branch at or before it.
    snapshot: NotRequired[str | None]
    # The maximum number of rows; the default is as many as fit in one answer. With it the answer also says when the query's own limit left rows out.
    max_rows: NotRequired[int | None]
    # The next_page_token of the previous page.
    page_token: NotRequired[str | None]


class QueryDescription(TypedDict):
    name: str
    tool_name: str
    description: NotRequired[str]
    instruction: NotRequired[str]
    questions: NotRequired[list[str]]
    mutation: bool
    # What the query uses of its caller, such as actor().id. The rows are those of the caller.
    caller: NotRequired[list[str]]
    params: "list[ParamEntry]"
    # The MCP tool that runs the query: its own tool or, on a graph with many queries, a tool that takes the name in tool_name as its argument name.
    run_tool: str
    # A JSON Schema of the arguments of the query's own tool; its property params describes the parameters.
    input_schema: Row
    # The plan as an indented tree, with the number of rows that the engine expects from each step. Only for a caller that may read the branch via adhoc.
    plan: NotRequired[str]


class QueryEntry(TypedDict):
    name: str
    tool_name: str
    description: NotRequired[str]
    instruction: NotRequired[str]
    questions: NotRequired[list[str]]
    mutation: bool
    # What the query uses of its caller, such as actor().id. The rows are those of the caller.
    caller: NotRequired[list[str]]
    params: "list[ParamEntry]"


class QueryExample(TypedDict):
    # The arguments: the first @example of each parameter, or its default.
    params: Any
    # The first rows, at most 10.
    rows: list[Row]
    more_rows: bool
    # Why there are no rows: the read failed, or took too long.
    error: NotRequired[str]


class QueryList(TypedDict):
    queries: "list[QueryEntry]"


class QueryProposalBody(TypedDict):
    # The name of the query, and of its tool.
    name: str
    # The GQ text of one read without annotations of the query. Each required parameter has an @example, which the example answer uses.
    query: str
    # What the query answers and when to use it: the description of its tool.
    description: str
    # Questions that the query answers. The search for tools uses them.
    questions: NotRequired[list[str] | None]
    # Why the query should be stored, for the reviewer.
    why: str


class ReadAnswer(TypedDict):
    query_name: str
    # The branch or the commit that the request named.
    target: "ReadTarget"
    # The columns' names in order.
    columns: list[str]
    # Each row with its columns by name.
    rows: list[Row]
    # The number of rows in this answer.
    row_count: int
    # The commit that was read.
    graph_commit_id: str
    # For a graph of source code, whether the code has changed since the graph was read from it.
    source: NotRequired["SourceState"]
    # Findings on the text of the query, such as a multiplied count. Why a read has no rows: the key or enum value in the query that does not exist, and keys that are similar.
    notes: NotRequired[list[str]]
    # There are more rows.
    truncated: NotRequired[bool]
    # The limit that left rows out: the maximum number of rows or bytes of an answer, or the query's own limit, after which there is no next page.
    truncated_by: NotRequired[Literal["rows", "bytes", "limit"]]
    # Send it as page_token, with the other members unchanged, to get the next rows.
    next_page_token: NotRequired[str]


class ReadTarget(TypedDict):
    branch: str | None
    snapshot: str | None
    # The commit at the head of the draft.
    graph_commit_id: NotRequired[str]
    # The number of commits of main that the draft does not contain.
    main_ahead: NotRequired[int]
    # When the draft is deleted if nobody writes to it, in Unix microseconds.
    expires_at: NotRequired[int]


class Readiness(TypedDict):
    # not_ready, with status 503, while a graph is quarantined or refuses writes because its storage fails, after the server received the signal to stop, and, with shared storage, while its configuration differs from that of a server that was started earlier.
    status: Literal["ready", "not_ready"]
    # How many graphs are served.
    graphs: int
    # How many graphs could not be opened.
    quarantined: int
    # How many stored queries do not fit the live schema of their graph.
    left_out: int
    # Only for an actor with graph_list.
    detail: NotRequired["ReadinessDetail"]


class ReadinessDetail(TypedDict):
    # The applied revision that the server booted from; null for none.
    revision: int | None
    # The changes in cluster.yaml that are not applied.
    pending: list[str]
    graphs: "list[GraphReadiness]"
    # Only with shared storage: which other server has another configuration, and what to do; absent if all servers have the same.
    differs: NotRequired[str]


class ResourceMetadata(TypedDict):
    # The URL of the resource.
    resource: str
    # The issuer of the tokens.
    authorization_servers: list[str]
    bearer_methods_supported: list[str]
    # The scopes to ask the issuer for.
    scopes_supported: NotRequired[list[str]]
    resource_name: str


class ReviewKey(TypedDict):
    # The key: a secret of the person. The server shows it once.
    review_key: str
    # In Unix microseconds. The end of the server ends the key too.
    expires_at: int


class ReviewKeysRevoked(TypedDict):
    # Number of keys that were good until now.
    revoked: int


class RowChange(TypedDict):
    before: Row
    after: Row


class SchemaAnswer(TypedDict):
    schema_source: str


class SchemaApplied(TypedDict):
    uri: str
    # The server can execute every step; false occurs only in a dry run.
    supported: bool
    # The call put the schema in force.
    applied: bool
    # A step removes values from the graph.
    destructive: bool
    step_count: int
    steps: "list[SchemaStep]"
    # The sequence number of the branch's last commit.
    graph_manifest_version: int
    branch: str
    # Identifies the change. If two digests are equal, the changes are the same.
    digest: str
    # The id of the commit; null if nothing changed, and in a dry run.
    graph_commit_id: str | None
    actor_id: str | None


class SchemaBody(TypedDict):
    # The whole .pg source. Types and properties that it leaves out are dropped.
    schema_source: str
    # Permit steps that remove values from the graph.
    allow_data_loss: NotRequired[bool | None]
    # The branch to apply it to; the default is main.
    branch: NotRequired[str | None]
    # Report the steps and change nothing.
    dry_run: NotRequired[bool | None]
    # Also remove the values of dropped properties from the stored files of the branch's head, soon after the call.
    hard: NotRequired[bool | None]


class SchemaEvent(TypedDict):
    schema_digest: str
    # The digest of the schema before the commit; null for the first commit of the graph.
    parent_schema_digest: str | None
    steps: "list[SchemaStep]"
    schema_source: str


class SchemaStep(TypedDict):
    code: str
    step: str
    destructive: bool
    # Why the server cannot execute the step, and what to do instead.
    reason: NotRequired[str]


class SnapshotAnswer(TypedDict):
    graph_branch: str
    # The sequence number of the commit.
    graph_manifest_version: int
    # The version of the layout of the graph's own records.
    internal_schema_version: int
    graph_commit_id: str
    # Changes when the schema does, layout and comments aside.
    schema_digest: str
    # The nodes and edges by type, in schema order.
    datasets: "list[Dataset]"


class SourceState(TypedDict):
    # The Git commit that was read, shortened.
    indexed: NotRequired[str]
    # The Git commit that is checked out, shortened.
    head: NotRequired[str]
    # Whether another commit is checked out than the one that was read.
    behind: NotRequired[bool]
    # The number of files that were changed, added or removed since they were read.
    dirty: NotRequired[int]
    # Why something is not known.
    unknown: NotRequired[str]


class Span(TypedDict):
    file: str
    start: "Pos"
    end: "Pos"


class StateComparison(TypedDict):
    source_commit_id: str
    base_commit_id: str
    target_commit_id: str
    # target_to_result: before is the target, and after the result of a merge. base_to_source: a merge has no result, because of conflicts or of the schemas; before is the merge base, and after the source.
    compares: Literal["target_to_result", "base_to_source"]
    nodes: "ChangeCounts"
    edges: "ChangeCounts"
    conflict_count: int
    # New and deleted nodes, then changed nodes, then edges, each by the name of the type and by id.
    changes: "list[ProposedChange]"
    # There are more changes; send it as page_token to list them. The pages compare the same commits. Null on the last page.
    next_page_token: str | None


class StoredFault(TypedDict):
    # The file or record.
    object: str
    detail: str


class SyncAnswer(TypedDict):
    # Values of the source that others had changed, and that were set again.
    overwritten: int
    # Entities that the source let go and that stay.
    released: int
    # Entities that no source claims any more.
    deleted: int
    # Edges that were deleted together with their nodes.
    cascaded: int
    # Nodes that stay because of edges that the source does not own.
    kept: int
    # The first of these nodes.
    kept_nodes: "list[KeptNode]"


class TextLoadAnswer(TypedDict):
    # The branch that was loaded into.
    branch: str
    # The branch that the load created it from; null if it existed.
    base_branch: str | None
    branch_created: bool
    mode: Literal["merge", "patch", "append", "overwrite", "sync"]
    nodes: "list[LoadedType]"
    edges: "list[LoadedType]"
    total_entities: int
    # The draft that was loaded into; only for a draft.
    target: NotRequired["WriteTarget"]
    # The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch.
    node_changes: NotRequired["ChangeCounts"]
    # The affected edges by kind.
    edge_changes: NotRequired["ChangeCounts"]
    # In a dry run, the first ten changes with the entity before and after.
    changes: NotRequired["list[EntityChange]"]
    # In a dry run, there are more changes than changes lists.
    more_changes: NotRequired[bool]
    # What to know about the write, such as that an insert replaced a node, or why nothing changed.
    notes: NotRequired[list[str]]
    # The commit; null if nothing changed, and in a dry run.
    commit: "CommitAnswer | None"
    actor_id: str | None
    # Nothing was committed; the answer says what the write would do.
    dry_run: NotRequired[bool]
    # What the mode sync, or a load of changes of a followed source, did beyond the lines.
    sync: NotRequired["SyncAnswer"]
    # The position of the followed database after the load; only for a load with followed.
    position: NotRequired[str]
    uri: str


class ToolTally(TypedDict):
    tool: str
    calls: int
    failed: int
    denied: int
    p99_micros: int


class Touched(TypedDict):
    kind: Literal["node", "edge"]
    type: str
    property: NotRequired[str]
    # The query may change it.
    write: bool


TypeEntry = TypedDict(
    "TypeEntry",
    {
        "kind": Literal["node", "edge"],
        "name": str,
        "description": NotRequired[str],
        # For an edge type, the node type or the interface at which its edges start.
        "from": NotRequired[str],
        # For an edge type, the node type or the interface at which its edges end.
        "to": NotRequired[str],
        # For a node type, its interfaces.
        "implements": NotRequired[list[str]],
        # For a node type, the properties of its key.
        "key": NotRequired[list[str]],
        # Key, unique, range and other rules, as the schema spells them.
        "rules": list[str],
        "properties": "list[PropertyEntry]",
        # The names of the stored queries that use the type, among those that the caller may invoke.
        "queries": list[str],
    },
)


class TypeList(TypedDict):
    # The node types and then the edge types, in schema order.
    types: "list[TypeEntry]"


class Undelivered(TypedDict):
    # The cursor before the event: with it, the events of the watch can be read.
    cursor: NotRequired[str]
    # null for the first event.
    from_commit_id: str | None
    to_commit_id: str
    # When it was sent first, in Unix microseconds.
    since: int
    attempts: int
    reason: str


class Upload(TypedDict):
    upload_id: str
    # The branch that the data is for, as the client wrote it; empty for the default.
    branch: str
    offset: int
    # The number of bytes of the whole data; null if the client has not said it yet.
    length: int | None
    expires_at: str
    # How many records of the table the server has read, while it imports the upload or proposes a map for it.
    records_read: NotRequired[int]


class Verified(TypedDict):
    faults: "list[StoredFault]"


class VerifyBody(TypedDict):
    pass


class Watch(TypedDict):
    watch_id: str
    query: str
    # The arguments of the query by name.
    params: Row
    branch: str
    debounce_ms: int
    # In Unix microseconds.
    created_at: int
    webhook: NotRequired["Webhook"]


class WatchBody(TypedDict):
    # The name of a stored read that always gives the same answer for the same state: without now() and without an approximate search.
    query: str
    # The arguments of the query by name.
    params: NotRequired[Params | None]
    # The branch; the default is main.
    branch: NotRequired[str | None]
    # An address to which the server sends the events, as Standard Webhooks. The settings of the graph list the hosts, and the caller needs watch_webhook.
    webhook: NotRequired[str | None]
    # How long a stream or a webhook waits after a change for further ones, in milliseconds, before it sends one event for all of them.
    debounce_ms: NotRequired[int | None]


class WatchDeleted(TypedDict):
    deleted: str


class WatchEvent(TypedDict):
    # Store it together with the rows, and send it as cursor to continue.
    cursor: str
    # The commit of the cursor in the request; null for a reset.
    from_commit_id: str | None
    to_commit_id: str
    # Why the event has the whole answer in rows; null for an event with differences.
    reset: Literal["first", "query", "schema", "rights", "history"] | None
    # After a reset: the whole answer.
    rows: NotRequired[list[Row]]
    # Rows that are new.
    came: NotRequired[list[Row]]
    # Rows that are gone, as they were.
    went: NotRequired[list[Row]]
    # Rows of the same nodes and edges, or of the same group, with other values.
    changed: NotRequired["list[RowChange]"]


class WatchList(TypedDict):
    watches: "list[Watch]"


class Webhook(TypedDict):
    url: str
    # The secret of the signatures, for a library of Standard Webhooks. Only the answer to the request that makes the watch has it.
    secret: NotRequired[str]
    # paused: nothing is sent until the owner makes a call.
    state: Literal["active", "retrying", "paused"]
    # Why the webhook is paused, or the last attempt failed.
    reason: NotRequired[str]
    # The last events that could not be delivered, at most 20, the oldest first.
    undelivered: "list[Undelivered]"
    # How many events before those could not be delivered.
    dropped: NotRequired[int]


class WebhookList(TypedDict):
    webhooks: "list[OwnedWebhook]"


class WriteTarget(TypedDict):
    branch: str
    # The commit at the head of the draft.
    graph_commit_id: str
    # The number of commits of main that the draft does not contain.
    main_ahead: int
    # When the draft is deleted if nobody writes to it, in Unix microseconds.
    expires_at: int
