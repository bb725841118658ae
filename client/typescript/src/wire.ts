// Code generated from the Go package client; DO NOT EDIT.

import type { Params, Row, Value } from "./values.js";

export interface AccessAnswer {
  actor: string;
  groups: string[];
  branch: string;
  /** The actors that the policy names, sorted. */
  actors: string[];
  /** A decision for each action and, for read and change, for each way of access. */
  decisions: AccessDecision[];
  /** The tools of the graph and its stored queries. */
  tools: AccessTool[];
}

export interface AccessDecision {
  action: string;
  via?: string | undefined;
  query?: string | undefined;
  /** The source that the action is about. Without it, the action is about the sources that no rule names. */
  source?: string | undefined;
  /** Whether the policy allows the action. In an answer about the caller, whether the server would: the protection of the branch and the scopes of the token count too. */
  allowed: boolean;
  /** In an answer about the caller: the action is allowed with a part of the branch only. */
  partial?: boolean | undefined;
  /** The rules that decided. If there are none, the action is denied because no rule allows it. */
  rules: AccessRule[];
  /** The rules that would allow the action if one more condition held. */
  near?: NearRule[] | undefined;
  /** What the rules show of each type. It is absent if no rule about the action is about a part of the graph, and for a denied action. */
  parts?: AccessPart[] | undefined;
  /** Why no rule can decide, if that is so, or which actor of a call through an agent is not allowed. */
  reason?: string | undefined;
}

export interface AccessPart {
  type: string;
  hidden?: boolean | undefined;
  /** Why the type is hidden, if no rule that hides it says so. */
  reason?: string | undefined;
  /** An entity is shown if it passes one filter of each list. */
  rows?: string[][] | undefined;
  /** An entity is hidden if it passes one of these filters. */
  not_rows?: string[] | undefined;
  /** The properties that are hidden. */
  without?: string[] | undefined;
  rules: AccessRule[];
}

export interface AccessRule {
  id: string;
  deny: boolean;
  file?: string | undefined;
  line?: number | undefined;
}

export interface AccessTool {
  name: string;
  title: string;
  query?: string | undefined;
  /** tools/list shows the tool to the actor, because the actor may use it on some branch. */
  visible: boolean;
  /** The decisions about the permissions that the tool needs on the branch of the answer. A call may need more, depending on its arguments. */
  needs: AccessDecision[];
}

export interface ActorAnswer {
  actor_id: string;
  /** The agents that act for the actor, the current one first. */
  agents?: string[] | undefined;
  groups: string[];
}

export interface ActorTally {
  actor_id: string | null;
  agents?: string[] | undefined;
  calls: number;
  failed: number;
  denied: number;
  p99_micros: number;
}

export interface AssistAnswer {
  /** With diagnostics: the queries without errors. */
  queries?: AssistQuery[] | undefined;
  /** The faults in the order of the text, at most 50. */
  diagnostics?: AssistDiagnostic[] | undefined;
  completion?: AssistCompletion | undefined;
  /** Absent if there is no name at the place, or one that needs no explanation. */
  hover?: AssistHover | undefined;
}

export interface AssistBody {
  /** Queries in GQ; the text need not be right. */
  text: string;
  /** What to answer; the default is diagnostics. */
  ask?: "diagnostics" | "completion" | "hover" | null | undefined;
  /** For completion and hover: the place in the text, in UTF-16 code units from its start. */
  position?: number | null | undefined;
  /** The branch whose schema counts; the default is main. */
  branch?: string | null | undefined;
  /** The commit whose schema counts, instead of a branch; or an instant, as in a query. */
  snapshot?: string | null | undefined;
}

export interface AssistCompletion {
  from: number;
  to: number;
  items: AssistItem[];
}

export interface AssistDiagnostic {
  from: number;
  to: number;
  severity: "error" | "warning" | "note";
  code: string;
  message: string;
  /** How to fix it. */
  help?: string | undefined;
  /** Changes that fix it and keep the meaning of the query. */
  edits?: AssistEdit[] | undefined;
}

export interface AssistEdit {
  from: number;
  to: number;
  text: string;
}

export interface AssistHover {
  from: number;
  to: number;
  code: string;
  /** Its description in the schema. */
  doc?: string | undefined;
}

export interface AssistItem {
  label: string;
  /** Such as node, property or keyword. */
  kind: string;
  /** Such as its type. */
  detail?: string | undefined;
  /** Its description in the schema. */
  doc?: string | undefined;
}

export interface AssistLink {
  from: string;
  to: string;
  edge: string;
}

export interface AssistNode {
  column: string;
  type: string;
}

export interface AssistQuery {
  name: string;
  mutation: boolean;
  params: ParamEntry[];
  /** The columns of a read whose values are nodes or ids of nodes. */
  nodes?: AssistNode[] | undefined;
  /** The edges between the nodes of a row that the match wants. */
  links?: AssistLink[] | undefined;
}

export interface AuditAnswer {
  /** The calls, the latest first. */
  records: AuditRecord[];
  /** Send it as page_token for earlier calls; null if there are none. */
  next_page_token: string | null;
}

export interface AuditRecord {
  /** When the call ended, in Unix microseconds. */
  ended_at: number;
  duration_micros: number;
  actor_id: string | null;
  agents?: string[] | undefined;
  tool: string;
  branch?: string | undefined;
  /** What the policy decided. */
  decision: "allowed" | "denied";
  denied_action?: string | undefined;
  /** The rules that allowed the call or denied the action. A denied call without rules is one that no rule allows. */
  rules?: string[] | undefined;
  outcome: string;
  rows: number;
  /** The ids of the first 100 entities of the answer. */
  entities?: string[] | undefined;
  /** The number of further entities, of which the trail has hashes. */
  more_entities?: number | undefined;
  /** The answer may have values of any entity of the branch; the trail does not list them. */
  whole_branch?: boolean | undefined;
  /** The answer may have had the entity of the request: one of the hashes fits, or whole_branch is true. */
  possibly?: boolean | undefined;
  graph_commit_id: string | null;
  types?: string[] | undefined;
  filters?: string[] | undefined;
  /** A keyed digest of the arguments: calls of a tool with equal arguments have equal digests. */
  arguments_digest?: string | undefined;
  /** The arguments, if server.audit.values is true. */
  arguments?: Value | undefined;
  request_id?: string | undefined;
  server: string;
  number: number;
}

export interface AuditSummary {
  from: number;
  to: number;
  /** Every call was counted; otherwise only the latest ones, at most 200,000. */
  complete: boolean;
  all: CallTally;
  /** The 24 hours, the oldest first. */
  hours: HourTally[];
  /** The 50 tools with the most calls, the most called first. */
  tools: ToolTally[];
  /** The 50 actors with the most calls, the most active first. */
  actors: ActorTally[];
}

export interface BaselineBody {
  /** The branch; the default is main. */
  branch?: string | null | undefined;
  /** List only nodes (node), or only edges (edge); both by default. */
  kind?: string[] | null | undefined;
  /** List only entities of these types; all types by default. */
  type?: string[] | null | undefined;
  /** The kinds of change that the subscriber reads: insert, update, delete; all by default. An entity of the baseline counts as an insert, so without insert the baseline has no entities. */
  op?: string[] | null | undefined;
}

export interface BranchBody {
  /** Letters, digits and _ - . in segments separated by /, such as review/june. */
  name: string;
  /** The branch whose head the new branch starts from; the default is main. */
  from?: string | null | undefined;
  /** A commit to start from instead of a head. It must be in the history of from or, without from, made on a branch that the caller may read. */
  from_commit?: string | null | undefined;
}

export interface BranchCreated {
  uri: string;
  from: string;
  name: string;
  actor_id: string | null;
  /** The commit that the branch starts from. */
  graph_commit_id: string;
}

export interface BranchDeleted {
  uri: string;
  name: string;
  actor_id: string | null;
}

export interface BranchDraft {
  owner: string;
  /** The agents to whom it belongs when they act for the owner, the current one first. */
  agents?: string[] | undefined;
  /** The name that the owner gave the draft: NAME of draft/NAME. An owner's first draft has none. */
  name?: string | undefined;
  /** proposed if an open proposal needs the draft. Such a draft does not expire. */
  state: "open" | "proposed";
  /** When the draft is deleted if nobody writes to it, in Unix microseconds. */
  expires_at?: number | undefined;
}

export interface BranchHead {
  name: string;
  graph_commit_id: string;
  /** The actor who made the commit; null if the commit has none. */
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** The time of the commit in Unix microseconds. */
  created_at: number;
  /** Only if the branch is a draft. */
  draft?: BranchDraft | undefined;
}

export interface BranchList {
  /** The names of the branches that the caller may read, in order. */
  branches: string[];
  /** The last commit of each branch. */
  heads: BranchHead[];
  /** There are more branches; send it as page_token to list them. */
  next_page_token?: string | undefined;
}

export interface CallTally {
  calls: number;
  failed: number;
  denied: number;
  p99_micros: number;
}

export interface ChangeBlock {
  /** The commit that made the changes. */
  cause: ChangeCause;
  /** How the commit changed the schema; null if it did not. Only the first part of a commit has it. */
  schema_change: SchemaEvent | null;
  /** Nodes, then edges, each by the name of the type and by id. */
  changes: EntityChange[];
}

export interface ChangeCause {
  graph_commit_id: string;
  parent_commit_id: string | null;
  merged_parent_commit_id: string | null;
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** In Unix microseconds. */
  authored_at: number;
  /** The branch that the commit was made on. */
  authored_branch: string;
  /** What the author says about the commit. */
  message?: string | undefined;
}

export interface ChangeCounts {
  inserted: number;
  updated: number;
  deleted: number;
}

export interface ChangeDiffRefusal {
  graph_commit_id: string;
  /** parentless_commit: the commit has no parent to compare it with. schema_boundary: the schemas of the commit and of its parent differ. */
  reason: "parentless_commit" | "schema_boundary";
  /** The first type that differs between the two schemas; null if no type does. */
  type_name: string | null;
}

export interface ChangeFeed {
  /** The commits of the branch after the cursor of the request, the oldest first. Commits without a selected change are left out if the request has a filter. */
  blocks: ChangeBlock[];
  /** The page ends at the head of the branch. */
  caught_up: boolean;
  /** Send it as cursor to continue after this page. It stays valid as long as the server keeps the history after it. Null if the page ends within a commit. */
  cursor: string | null;
  /** The page ends within a commit; send it as page_token to continue. Null if the page ends after a whole commit. */
  next_page_token: string | null;
}

export interface ChangeFeedGap {
  first_unreadable_commit_id: string;
  /** Null: only a new baseline gives a cursor that continues after the gap. */
  cursor: string | null;
}

export interface ChangedType {
  /** Stays the same when the type is renamed. */
  id: string;
  /** The name at the commit. */
  name: string;
}

export interface ChangesAnswer {
  /** The commit that made the changes. */
  cause: ChangeCause;
  /** Nodes, then edges, each by the name of the type and by id. */
  changes: EntityChange[];
  /** There are more changes; send it as page_token to list them. Null on the last page. */
  next_page_token: string | null;
}

export interface CheckResult {
  /** The stored query; empty if the caller may not invoke it. */
  query: string;
  /** What the check demands, such as: Every decision rests on a document. */
  title: string;
  /** failed: the query returned rows. unfinished: the query reached a limit or could not run, so the check counts as not passed. */
  outcome: "passed" | "failed" | "unfinished";
  /** Why the check is unfinished; null otherwise. */
  reason: string | null;
  /** The first rows that a failed check returned, at most 20. Left out if the caller may not invoke the query. */
  rows?: Row[] | undefined;
  /** The query returned more rows. */
  more_rows?: boolean | undefined;
}

export interface ChecksAnswer {
  branch: string;
  graph_commit_id: string;
  /** In the order of the stored queries. Empty if the graph has no checks. */
  checks: CheckResult[];
}

export interface CleanedUp {
  /** The number of commits that became unreadable. */
  commits_reclaimed: number;
  commits_kept: number;
  files_removed: number;
  bytes_freed: number;
  /** Nothing was reclaimed; the answer says what the cleanup would do. */
  dry_run: boolean;
}

/** Needs at least one of keep_commits, keep_since. */
export interface CleanupBody {
  /** Keep this many commits of each branch, including its head. */
  keep_commits?: number | null | undefined;
  /** Keep the commits that are not older than this. With both members, a commit is kept if either member keeps it. */
  keep_since?: string | null | undefined;
  /** Report what the cleanup would reclaim, and change nothing. */
  dry_run?: boolean | null | undefined;
}

export interface CommentPlace {
  entity_kind: "node" | "edge";
  type_name: string;
  id: string;
}

export interface CommitAnswer {
  graph_commit_id: string;
  /** The branch that the commit was made on. */
  graph_branch: string;
  /** Its number on its branch, from 1. */
  graph_manifest_version: number;
  parent_commit_id: string | null;
  merged_parent_commit_id: string | null;
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** In Unix microseconds. */
  created_at: number;
  /** What its author says about it. Callers who may see a part of the branch only do not get it. */
  message?: string | undefined;
}

export interface CommitList {
  /** The newest first. */
  commits: CommitAnswer[];
  /** There are older commits; send it as before to list them. Null on the last page. */
  next_before: number | null;
  /** There are older commits; send it as page_token to list them. */
  next_page_token?: string | undefined;
}

export interface ConflictResolution {
  entity_kind: "node" | "edge";
  type_name: string;
  id: string;
  /** Left out for a conflict about the whole entity. */
  property?: string | null | undefined;
  /** ours keeps the target, theirs takes the source, value sets the property to value. */
  take: "ours" | "theirs" | "value";
  /** For take: value. Null removes the value. */
  value?: Value | undefined;
}

export interface Dataset {
  type_name: string;
  entity_kind: "node" | "edge";
  entity_count: number;
  /** The sequence number of the commit that it is read at. */
  published_dataset_version: number;
  /** The name of the type. */
  dataset_path: string;
  /** Null: branches share what they hold. */
  native_dataset_branch: string | null;
}

export interface Diagnostic {
  code: string;
  severity: "error" | "warning" | "note";
  span: Span;
  message: string;
  help?: string | undefined;
}

export interface DraftClosed {
  outcome: string;
  merge_commit_id?: string | undefined;
  by: string;
}

export interface EdgeEndpoints {
  /** The node where the edge starts: its id, or an object with its type and id if the schema declares an interface there. */
  from: string | { type: string; id: string };
  /** The node where the edge ends: its id, or an object with its type and id if the schema declares an interface there. */
  to: string | { type: string; id: string };
}

export interface EntityChange {
  kind: "node" | "edge";
  type: ChangedType;
  id: string;
  op: "insert" | "update" | "delete";
  /** The entity before the commit; null if the commit inserted it. */
  before: EntityImage | null;
  /** The entity after the commit; null if the commit deleted it. */
  after: EntityImage | null;
}

export interface EntityImage {
  /** All properties of the type by name; null where the entity has no value. */
  properties: Row;
  /** The ends of an edge; null for a node. */
  endpoints: EdgeEndpoints | null;
}

export interface EntityPlace {
  entity_kind: "node" | "edge";
  type_name: string;
  id: string;
}

export interface Envelope {
  error: string;
  code?: "unauthorized" | "forbidden" | "bad_request" | "not_found" | "method_not_allowed" | "conflict" | "too_many_requests" | "internal" | undefined;
  key_conflict?: KeyConflict | undefined;
  resource_limit?: Limit | undefined;
  precondition_failure?: Precondition | undefined;
  diagnostics?: Diagnostic[] | undefined;
  line_faults?: LineFault[] | undefined;
  more_line_faults?: boolean | undefined;
  change_diff_refusal?: ChangeDiffRefusal | undefined;
  change_feed_gap?: ChangeFeedGap | undefined;
  proposal_feed_gap?: ProposalFeedGap | undefined;
  draft_closed?: DraftClosed | undefined;
  merge_conflicts?: MergeConflict[] | undefined;
  merge_conflict_count?: number | undefined;
}

export interface ExplainBody {
  /** The GQ text; it may contain several queries. */
  query: string;
  /** The name of the query to explain, if the text contains several. */
  name?: string | null | undefined;
  /** The query's parameters by name, without the $; only analyze needs them. */
  params?: Params | null | undefined;
  /** The branch whose schema and data the plan is for; the default is main. */
  branch?: string | null | undefined;
  /** Run the read, and report rows and time of each operator. */
  analyze?: boolean | null | undefined;
}

export interface Explained {
  query_name: string;
  kind: "read" | "mutation";
  branch: string;
  /** The commit whose data the estimates are for. */
  graph_commit_id: string;
  /** The server ran the read, so rows and time_ns are set. */
  analyzed: boolean;
  /** What the query uses of its caller, such as actor().id. The rows are those of the caller. */
  caller?: string[] | undefined;
  /** The parts of the schema that the query reads or changes. */
  touches: Touched[];
  /** The operators, starting with the one that returns the result. An operator reads the rows of the operators that follow it one level deeper. */
  plan: PlanStep[];
  /** The plan as an indented tree. */
  text: string;
}

export interface ExportBody {
  /** The branch to export; the default is main. */
  branch?: string | null | undefined;
  /** The commit to export, instead of a branch; or an instant, as in a query. */
  snapshot?: string | null | undefined;
  /** The node and edge types to export; the default is all. */
  type_names?: string[] | null | undefined;
}

export interface GraphEntry {
  graph_id: string;
  uri: string;
}

export interface GraphList {
  graphs: GraphEntry[];
}

export interface GraphReadiness {
  graph_id: string;
  status: "serving" | "failing" | "quarantined";
  /** Why it is failing or quarantined. */
  reason?: string | undefined;
  /** Only with shared storage: whether this server writes the graph, reads it, opens it at the moment, or has it closed because it is not in use. */
  role?: "reader" | "writer" | "absent" | "idle" | undefined;
  /** Only with shared storage: the number of takeovers of the graph so far, as far as this server knows. */
  epoch?: number | undefined;
  /** Only with shared storage: the milliseconds since this server last knew every commit. */
  lag_ms?: number | undefined;
  /** Only on a reader: the name of the server that writes the graph. */
  writer?: string | undefined;
  /** Its live schema differs from the schema of the applied revision. */
  drift: boolean;
  left_out: LeftOutQuery[];
}

export interface Growth {
  /** The oldest first; the last one is the head. Commits whose states a cleanup removed may be absent, and those of another branch are if the caller may not read as much there. */
  points: GrowthPoint[];
}

export interface GrowthPoint {
  graph_commit_id: string;
  /** When the commit was made, in Unix microseconds. */
  created_at: number;
  nodes: number;
  edges: number;
}

export interface Health {
  status: string;
  /** The version of the server. */
  version: string;
  /** The commit of the source code that the server was built from; null where the build does not record it. */
  source_version: string | null;
  /** How many graphs are served. */
  graphs: number;
  /** The version of the layout of the graphs' own records. */
  internal_schema_version: number;
}

export interface HourTally {
  /** The start of the hour, in Unix microseconds. */
  from: number;
  calls: number;
  failed: number;
  denied: number;
  p99_micros: number;
}

export interface ImportBody {
  /** The name of the file, which ends in .csv or .tsv. */
  file_name: string;
  /** The map, as in an import.yaml. It has one source, which is the file. */
  map: string;
  /** The branch to import into; the default is main. */
  branch?: string | null | undefined;
  /** merge, the default, replaces entities that exist; patch changes only the properties that the map sets, and null clears; append fails on entities that exist. */
  mode?: "merge" | "patch" | "append" | null | undefined;
  /** With merge and patch: edges are new edges if no @unique(src, dst) identifies them. */
  new_edges?: boolean | null | undefined;
  /** Commit nothing; report what the import would do. */
  dry_run?: boolean | null | undefined;
}

export interface ImportColumn {
  name: string;
  property: string;
  /** The type of the values, as a schema writes it. */
  type: string;
  optional: boolean;
  values: number;
  /** The number of different values; 0 if they are too many or too long to count. */
  distinct: number;
  samples: string[];
  note?: string | undefined;
  /** What a map sets a property to that has the values of the column. */
  reads: Row;
}

export interface ImportProposal {
  rows: number;
  columns: ImportColumn[];
  /** The columns that identify the rows; none if no column does. */
  key: string[];
  key_evidence?: string | undefined;
  /** A map of the table to types of the graph, which is an import.yaml as JSON; empty if no type fits. */
  map: string;
  /** A type for the table, for a graph that has none. */
  schema_source: string;
}

export interface InferBody {
  /** The name of the file, which ends in .csv or .tsv, and suggests the name of a type. */
  file_name: string;
  /** The branch whose schema the map is for; the default is main. */
  branch?: string | null | undefined;
}

export interface InvokeBody {
  /** The query's parameters by name, without the $. */
  params?: Params | null | undefined;
  /** The branch to use; the default is main. */
  branch?: string | null | undefined;
  /** For a read, the commit to read, instead of a branch; or an instant, as in a query. */
  snapshot?: string | null | undefined;
  /** With true, fail unless the query is a mutation; with false, fail unless it is a read. */
  expect_mutation?: boolean | null | undefined;
  /** For a read, the maximum number of rows; the default is as many as fit in one answer. With it the answer also says when the query's own limit left rows out. */
  max_rows?: number | null | undefined;
  /** For a read, the next_page_token of the previous page. */
  page_token?: string | null | undefined;
  /** For a mutation, commit nothing and report what it would change. */
  dry_run?: boolean | null | undefined;
}

export interface KeptNode {
  type: string;
  id: string;
}

export interface KeyConflict {
  entity_kind: string;
  type_name: string;
  id: string;
}

export interface LeftOutQuery {
  name: string;
  reason: string;
}

export interface Limit {
  resource: string;
  limit: number;
  actual: number;
}

export interface LineFault {
  line: number;
  field?: string | undefined;
  message: string;
}

export interface LoadAnswer {
  /** The branch that was loaded into. */
  branch: string;
  /** The branch that the load created it from; null if it existed. */
  base_branch: string | null;
  branch_created: boolean;
  mode: "merge" | "patch" | "append" | "overwrite" | "sync";
  nodes: LoadedType[];
  edges: LoadedType[];
  total_entities: number;
  /** The draft that was loaded into; only for a draft. */
  target?: WriteTarget | undefined;
  /** The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch. */
  node_changes?: ChangeCounts | undefined;
  /** The affected edges by kind. */
  edge_changes?: ChangeCounts | undefined;
  /** In a dry run, the first ten changes with the entity before and after. */
  changes?: EntityChange[] | undefined;
  /** In a dry run, there are more changes than changes lists. */
  more_changes?: boolean | undefined;
  /** What to know about the write, such as that an insert replaced a node, or why nothing changed. */
  notes?: string[] | undefined;
  /** The commit; null if nothing changed, and in a dry run. */
  commit: CommitAnswer | null;
  actor_id: string | null;
  /** Nothing was committed; the answer says what the write would do. */
  dry_run?: boolean | undefined;
  /** What the mode sync, or a load of changes of a followed source, did beyond the lines. */
  sync?: SyncAnswer | undefined;
  /** The position of the followed database after the load; only for a load with followed. */
  position?: string | undefined;
}

export interface LoadBody {
  /** The lines of NDJSON as one string, with a line feed after each. */
  data: string;
  /** The branch to load into; the default is main. */
  branch?: string | null | undefined;
  /** The branch from which the server creates branch, if branch does not exist. The server deletes it again if the load fails. */
  from?: string | null | undefined;
  /** merge, the default, replaces entities that exist; patch changes only the properties in the data, and null clears; append fails on entities that exist; overwrite first removes every entity of the types that occur in the data; sync does as patch, and lets go of what its source claimed before and lacks now. */
  mode?: "merge" | "patch" | "append" | "overwrite" | "sync" | null | undefined;
  /** With merge and patch: edges without an id are new edges if no @unique(src, dst) identifies them. */
  new_edges?: boolean | null | undefined;
  /** With merge and patch: of several lines with one entity the last stands. Otherwise they are a fault. */
  last_wins?: boolean | null | undefined;
  /** Commit nothing; report what the load would do. */
  dry_run?: boolean | null | undefined;
  /** With sync: the name of the source. */
  source?: string | null | undefined;
  /** With sync: the types in which what the source claimed, and the data lack, is let go; it is deleted if a source created it and none claims it any more. */
  types?: string[] | null | undefined;
  /** With sync: properties, as Type.property, that stay as they are where another source owns them. */
  yield?: string[] | null | undefined;
  /** With sync: delete nodes together with edges that the source does not own. */
  cascade?: boolean | null | undefined;
  /** With sync: the number of entities to delete, if it is more than a fifth of a type's claimed entities. */
  approve_deletes?: number | null | undefined;
}

export interface LoadedType {
  name: string;
  entities_loaded: number;
}

export interface MergeAnswer {
  source: string;
  target: string;
  outcome: "already_up_to_date" | "fast_forward" | "merged";
  /** The source was deleted. */
  branch_deleted: boolean;
  /** Why the server could not delete the source after the merge; null if it did not fail. */
  branch_delete_error: string | null;
  affected_nodes: number;
  affected_edges: number;
  /** The commit on the target; null if nothing changed, and in a dry run. */
  graph_commit_id: string | null;
  actor_id: string | null;
  /** Nothing was committed; the answer says what the write would do. */
  dry_run?: boolean | undefined;
}

export interface MergeBody {
  /** The branch to merge. */
  source: string;
  /** The branch to merge into; the default is main. */
  target?: string | null | undefined;
  /** Delete the source after the merge; this needs branch_delete. */
  delete_branch?: boolean | null | undefined;
  /** Report what the merge would do, including conflicts, and change nothing. */
  dry_run?: boolean | null | undefined;
}

export interface MergeConflict {
  kind: string;
  entity_kind: string;
  type_name: string;
  id: string;
  property?: string | undefined;
  message: string;
  /** For delete_vs_update of a node: the number of edges that the deletion took with it. */
  edges?: number | undefined;
}

/** Needs exactly one of query, query_source. */
export interface MutateBody {
  /** The GQ text; it may contain several queries. Send either query or query_source. */
  query?: string | null | undefined;
  /** Another name for query. */
  query_source?: string | null | undefined;
  /** The name of the query to run, if the text contains several. */
  name?: string | null | undefined;
  /** Another name for name. */
  query_name?: string | null | undefined;
  /** The query's parameters by name, without the $. */
  params?: Params | null | undefined;
  /** The branch to write to; the default is main. */
  branch?: string | null | undefined;
  /** Commit nothing; report what the mutation would change. */
  dry_run?: boolean | null | undefined;
}

export interface MutationAnswer {
  branch: string;
  query_name: string;
  affected_nodes: number;
  affected_edges: number;
  actor_id: string | null;
  /** The commit; null if nothing changed, and in a dry run. */
  commit: CommitAnswer | null;
  /** Nothing was committed; the answer says what the write would do. */
  dry_run?: boolean | undefined;
  /** The draft that was written to; only for a draft. */
  target?: WriteTarget | undefined;
  /** The one row that the mutation returns; absent if it returns none. */
  rows?: Row[] | undefined;
  /** The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch. */
  node_changes?: ChangeCounts | undefined;
  /** The affected edges by kind. */
  edge_changes?: ChangeCounts | undefined;
  /** In a dry run, the first ten changes with the entity before and after. */
  changes?: EntityChange[] | undefined;
  /** In a dry run, there are more changes than changes lists. */
  more_changes?: boolean | undefined;
  /** What to know about the write, such as that an insert replaced a node, or why nothing changed. */
  notes?: string[] | undefined;
}

export interface NearRule {
  id: string;
  deny: boolean;
  file?: string | undefined;
  line?: number | undefined;
  missing: string;
}

export interface NodeHistory {
  /** The commits that changed the node, the newest first. */
  versions: NodeVersion[];
  /** The number of commits in which the server looked for changes. */
  examined: number;
  /** There are older commits; send it as before to continue with them. Null if there are none, and if their state was reclaimed. */
  next_before: number | null;
  /** A cleanup reclaimed the state of older commits, so the history does not go back to the first commit. */
  reclaimed: boolean;
}

export interface NodeVersion {
  commit: CommitAnswer;
  op: "insert" | "update" | "delete";
  /** The node before the commit, without Blobs; null if the commit inserted it. */
  before: EntityImage | null;
  /** The node after the commit, without Blobs; null if the commit deleted it. */
  after: EntityImage | null;
}

export interface OwnedWebhook {
  watch_id: string;
  owner: string;
  query: string;
  branch: string;
  /** The host of the address, without the path, which may be secret. */
  host: string;
  state: "active" | "retrying" | "paused";
  /** How many events could not be delivered. */
  undelivered: number;
  /** In Unix microseconds. */
  created_at: number;
  /** The last call of the owner that counts for its rights, in Unix microseconds. */
  called_at: number;
}

export interface ParamEntry {
  name: string;
  kind: "string" | "bool" | "int" | "bigint" | "float" | "date" | "datetime" | "blob" | "vector" | "duration" | "decimal" | "list" | "record";
  item_kind?: string | undefined;
  vector_dim?: number | undefined;
  nullable: boolean;
  node?: string | undefined;
  interface?: string | undefined;
  description?: string | undefined;
  /** Any JSON value. */
  default?: Value | undefined;
  /** Any JSON value. */
  minimum?: Value | undefined;
  /** Any JSON value. */
  maximum?: Value | undefined;
}

export interface PlanStep {
  depth: number;
  name: string;
  /** What the operator reads: type, index, direction, condition. */
  detail?: string | undefined;
  /** The number of rows that the engine expects from the operator. */
  estimate: number;
  /** The number of rows that it returned. */
  rows?: number | undefined;
  /** The nanoseconds that the operator took, without the operators below it. */
  time_ns?: number | undefined;
}

export interface Pos {
  offset: number;
  line: number;
  column: number;
}

export interface Precondition {
  expected: string;
  actual: string | null;
}

export interface PropertyEntry {
  name: string;
  /** As the schema spells it; a ? at the end says that it may be null. */
  type: string;
  /** The kind of the value, or of the elements of a list, such as String, I32, Date or Blob. */
  kind: string;
  list: boolean;
  enum?: string[] | undefined;
  description?: string | undefined;
}

export interface ProposalAnswer {
  id: string;
  /** Counts the stored versions of the proposal, from 1. */
  revision: number;
  state: "open" | "merged" | "closed";
  /** The query that the proposal is about. Such a proposal has no source, and its target is main. */
  query_name?: string | undefined;
  source: string;
  target: string;
  title: string;
  /** The actor who opened the proposal; null if not known. */
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** In Unix microseconds. */
  created_at: number;
  /** The time of the last event, in Unix microseconds. */
  updated_at: number;
  description: string;
  /** The commit on the target; null unless the proposal is merged. */
  merge_commit_id: string | null;
  /** How the merge resolves conflicts. */
  resolutions: ProposalResolution[];
  /** What happened to the proposal, oldest first. */
  events: ProposalEvent[];
  /** The compared commit of the source: its head, or for a proposal that is merged or closed, its last one. */
  source_commit_id: string;
  /** The compared commit of the target. */
  target_commit_id: string;
  /** The merge base of the two commits. */
  base_commit_id: string;
  /** Identifies the changes and the resolutions. An approval counts for one digest. Empty if the branches cannot be compared; then the commits are those of the last event. */
  digest: string;
  /** Numbers of nodes that the merge changes on the target, or has changed there. While there are conflicts without a resolution: that the source has changed since the merge base. */
  nodes: ChangeCounts;
  /** The same for edges. */
  edges: ChangeCounts;
  /** The first conflicts without a resolution: at most a hundred, and at most 8 MiB of values. */
  conflicts: ProposalConflict[];
  /** The number of all conflicts without a resolution. */
  conflict_count: number;
  /** The proposed query, for a proposal that is about one. */
  query?: ProposedQuery | undefined;
  /** The outcomes of the graph's checks on the result of the merge, in the order of their queries. Empty if the proposal is not open. */
  checks: CheckResult[];
  /** The actors whose approval counts for the digest. */
  approved_by: string[];
  /** The actors who asked for changes to this digest. */
  changes_requested_by: string[];
  /** What must happen before the merge, as sentences. Empty if the proposal can be merged or is not open. */
  blockers: string[];
  /** About a digest that the request sent as null: the step then ran whatever the digest was. */
  notes?: string[] | undefined;
}

export interface ProposalBody {
  /** The branch with the changes. */
  source: string;
  /** The branch that gets the changes; the default is main. */
  target?: string | null | undefined;
  title: string;
  /** Why the changes are good, for the reviewer. */
  description?: string | null | undefined;
}

export interface ProposalChangeBody {
  title?: string | null | undefined;
  description?: string | null | undefined;
  /** Each replaces the earlier resolution of the same conflict. */
  resolutions?: ConflictResolution[] | null | undefined;
  /** Change the proposal only if this is its digest. Otherwise the answer is 409, and nothing changes. */
  digest?: string | null | undefined;
  comment?: string | null | undefined;
}

export interface ProposalChanges {
  source_commit_id: string;
  base_commit_id: string;
  /** The head of the target in the comparison. before is the state of this commit. */
  target_commit_id: string;
  /** target_to_result: before is the target, and after the result of the merge. base_to_source: there is no result yet, because of conflicts or of the schemas; before is the merge base, and after the source. */
  compares: "target_to_result" | "base_to_source";
  /** New and deleted nodes, then changed nodes, then edges, each by the name of the type and by id. */
  changes: ProposedChange[];
  /** There are more changes; send it as page_token to list them. The pages compare the same commits. Null on the last page. */
  next_page_token: string | null;
}

export interface ProposalCloseBody {
  comment?: string | null | undefined;
}

export interface ProposalConflict {
  kind: string;
  entity_kind: string;
  type_name: string;
  id: string;
  /** Empty if the conflict is about the whole entity. */
  property: string;
  message: string;
  /** For delete_vs_update of a node: the number of edges that the deletion took with it. They stay if a resolution keeps the node, except those that the other side changed, which are conflicts of their own, and those whose other end is deleted too. */
  edges?: number | undefined;
  /** A resolution can resolve the conflict. Otherwise, change one of the branches. */
  resolvable: boolean;
  /** The property, or the whole entity, in the merge base; null if the entity does not exist there. */
  base: EntityImage | null;
  /** The same in the target. */
  ours: EntityImage | null;
  /** The same in the source. */
  theirs: EntityImage | null;
}

export interface ProposalEvent {
  kind: "opened" | "changed" | "commented" | "approved" | "changes_requested" | "merged" | "closed" | "resolved";
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** In Unix microseconds. */
  created_at: number;
  comment: string;
  /** The digest that the actor saw; empty for a step without one. */
  digest: string;
  /** The entity that the comment is about; null for the whole proposal. */
  on: EntityPlace | null;
}

export interface ProposalFeed {
  /** The events after the cursor of the request, the oldest first. */
  events: ProposalFeedEvent[];
  /** The page ends with the last event. */
  caught_up: boolean;
  /** Send it as cursor to continue after this page. It stays valid until a cleanup removes a proposal with a later event. */
  cursor: string;
}

export interface ProposalFeedEvent {
  /** The id of the event. It is also a cursor. */
  id: string;
  proposal_id: string;
  kind: "opened" | "changed" | "commented" | "approved" | "changes_requested" | "merged" | "closed" | "resolved";
  /** The state of the proposal right after the event. */
  state: "open" | "merged" | "closed";
  source: string;
  target: string;
  /** The title of the proposal now, which may be later than the event. */
  title: string;
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** In Unix microseconds. */
  created_at: number;
  comment: string;
  /** The digest that the actor saw or, for resolved, the new digest; empty for an event without one. */
  digest: string;
  /** The entity that the comment is about; null for the whole proposal. */
  on: EntityPlace | null;
  /** The commit of the merge; null unless the kind is merged. */
  merge_commit_id: string | null;
}

export interface ProposalFeedGap {
  /** The oldest cursor with which the feed can continue. The events before it may be incomplete. */
  oldest_cursor: string;
}

export interface ProposalList {
  /** The newest first. */
  proposals: ProposalSummary[];
  /** There are older proposals; send it as page_token to list them. */
  next_page_token?: string | undefined;
}

export interface ProposalMergeBody {
  /** Merge only if this is the digest of the proposal; otherwise the answer is 409. */
  digest?: string | null | undefined;
  comment?: string | null | undefined;
  /** Of the commit; the default is the title of the proposal. */
  message?: string | null | undefined;
}

export interface ProposalResolution {
  entity_kind: "node" | "edge";
  type_name: string;
  id: string;
  /** Empty if the conflict is about the whole entity. */
  property: string;
  /** ours keeps the target, theirs takes the source, value sets the property to value. */
  take: "ours" | "theirs" | "value";
  /** The value; null for ours and theirs, and for no value. */
  value: Value;
}

export interface ProposalReviewBody {
  decision: "approve" | "request_changes" | "comment";
  /** The digest of the proposal that the reviewer saw. approve and request_changes need it. If the digest is another one by now, the answer is 409. */
  digest?: string | null | undefined;
  comment?: string | null | undefined;
  /** For comment: the entity that the comment is about. */
  on?: CommentPlace | null | undefined;
}

export interface ProposalSummary {
  id: string;
  /** Counts the stored versions of the proposal, from 1. */
  revision: number;
  state: "open" | "merged" | "closed";
  /** The query that the proposal is about. Such a proposal has no source, and its target is main. */
  query_name?: string | undefined;
  source: string;
  target: string;
  title: string;
  /** The actor who opened the proposal; null if not known. */
  actor_id: string | null;
  /** The agents that acted for the actor, the current one first. */
  agents?: string[] | undefined;
  /** In Unix microseconds. */
  created_at: number;
  /** The time of the last event, in Unix microseconds. */
  updated_at: number;
}

export interface ProposedChange {
  kind: "node" | "edge";
  type: ChangedType;
  id: string;
  op: "insert" | "update" | "delete";
  /** The entity before the commit; null if the commit inserted it. */
  before: EntityImage | null;
  /** The entity after the commit; null if the commit deleted it. */
  after: EntityImage | null;
  /** changes: the merge changes the target. already_there: the target already has what the source changed. kept: a resolution keeps the target, so the change of the source is lost. undecided: there is no result yet. For already_there and kept, op is what the source did, and before and after are both the state of the target. */
  effect: "changes" | "already_there" | "kept" | "undecided";
}

export interface ProposedQuery {
  name: string;
  /** The text with the description and the questions, as gq pull writes it. */
  text: string;
  /** The number of rows that the operators of the plan are expected to yield, in total. */
  cost: number;
  /** The plan with its estimates as an indented tree; empty if the query does not fit the schema. */
  plan: string;
  /** An answer that the server computed for this viewer, on main; null if the query does not fit the schema. */
  example: QueryExample | null;
  /** Names of the stored queries that the viewer may run and that resemble it most. */
  resembles: string[];
  /** What gq lint says of the text. */
  findings: string[];
  /** What gq breaking says of the merge. */
  changes: string[];
}

export interface PublishedQueries {
  /** By name. */
  queries: PublishedQuery[];
}

export interface PublishedQuery {
  name: string;
  text: string;
  proposal_id: string;
}

export interface QueryBody {
  /** The GQ text; it may contain several queries. */
  query: string;
  /** The name of the query to run, if the text contains several. */
  name?: string | null | undefined;
  /** The query's parameters by name, without the $. */
  params?: Params | null | undefined;
  /** The branch to read; the default is main. */
  branch?: string | null | undefined;
  /** The commit to read, instead of a branch; or an instant such as 2026-05-01T12:00:00Z: the last commit of the branch at or before it. */
  snapshot?: string | null | undefined;
  /** The maximum number of rows; the default is as many as fit in one answer. With it the answer also says when the query's own limit left rows out. */
  max_rows?: number | null | undefined;
  /** The next_page_token of the previous page. */
  page_token?: string | null | undefined;
}

export interface QueryDescription {
  name: string;
  tool_name: string;
  description?: string | undefined;
  instruction?: string | undefined;
  questions?: string[] | undefined;
  mutation: boolean;
  /** What the query uses of its caller, such as actor().id. The rows are those of the caller. */
  caller?: string[] | undefined;
  params: ParamEntry[];
  /** The MCP tool that runs the query: its own tool or, on a graph with many queries, a tool that takes the name in tool_name as its argument name. */
  run_tool: string;
  /** A JSON Schema of the arguments of the query's own tool; its property params describes the parameters. */
  input_schema: Row;
  /** The plan as an indented tree, with the number of rows that the engine expects from each step. Only for a caller that may read the branch via adhoc. */
  plan?: string | undefined;
}

export interface QueryEntry {
  name: string;
  tool_name: string;
  description?: string | undefined;
  instruction?: string | undefined;
  questions?: string[] | undefined;
  mutation: boolean;
  /** What the query uses of its caller, such as actor().id. The rows are those of the caller. */
  caller?: string[] | undefined;
  params: ParamEntry[];
}

export interface QueryExample {
  /** The arguments: the first @example of each parameter, or its default. */
  params: Value;
  /** The first rows, at most 10. */
  rows: Row[];
  more_rows: boolean;
  /** Why there are no rows: the read failed, or took too long. */
  error?: string | undefined;
}

export interface QueryList {
  queries: QueryEntry[];
}

export interface QueryProposalBody {
  /** The name of the query, and of its tool. */
  name: string;
  /** The GQ text of one read without annotations of the query. Each required parameter has an @example, which the example answer uses. */
  query: string;
  /** What the query answers and when to use it: the description of its tool. */
  description: string;
  /** Questions that the query answers. The search for tools uses them. */
  questions?: string[] | null | undefined;
  /** Why the query should be stored, for the reviewer. */
  why: string;
}

export interface ReadAnswer {
  query_name: string;
  /** The branch or the commit that the request named. */
  target: ReadTarget;
  /** The columns' names in order. */
  columns: string[];
  /** Each row with its columns by name. */
  rows: Row[];
  /** The number of rows in this answer. */
  row_count: number;
  /** The commit that was read. */
  graph_commit_id: string;
  /** For a graph of source code, whether the code has changed since the graph was read from it. */
  source?: SourceState | undefined;
  /** Findings on the text of the query, such as a multiplied count. Why a read has no rows: the key or enum value in the query that does not exist, and keys that are similar. */
  notes?: string[] | undefined;
  /** There are more rows. */
  truncated?: boolean | undefined;
  /** The limit that left rows out: the maximum number of rows or bytes of an answer, or the query's own limit, after which there is no next page. */
  truncated_by?: "rows" | "bytes" | "limit" | undefined;
  /** Send it as page_token, with the other members unchanged, to get the next rows. */
  next_page_token?: string | undefined;
}

export interface ReadTarget {
  branch: string | null;
  snapshot: string | null;
  /** The commit at the head of the draft. */
  graph_commit_id?: string | undefined;
  /** The number of commits of main that the draft does not contain. */
  main_ahead?: number | undefined;
  /** When the draft is deleted if nobody writes to it, in Unix microseconds. */
  expires_at?: number | undefined;
}

export interface Readiness {
  /** not_ready, with status 503, while a graph is quarantined or refuses writes because its storage fails, after the server received the signal to stop, and, with shared storage, while its configuration differs from that of a server that was started earlier. */
  status: "ready" | "not_ready";
  /** How many graphs are served. */
  graphs: number;
  /** How many graphs could not be opened. */
  quarantined: number;
  /** How many stored queries do not fit the live schema of their graph. */
  left_out: number;
  /** Only for an actor with graph_list. */
  detail?: ReadinessDetail | undefined;
}

export interface ReadinessDetail {
  /** The applied revision that the server booted from; null for none. */
  revision: number | null;
  /** The changes in cluster.yaml that are not applied. */
  pending: string[];
  graphs: GraphReadiness[];
  /** Only with shared storage: which other server has another configuration, and what to do; absent if all servers have the same. */
  differs?: string | undefined;
}

export interface ResourceMetadata {
  /** The URL of the resource. */
  resource: string;
  /** The issuer of the tokens. */
  authorization_servers: string[];
  bearer_methods_supported: string[];
  /** The scopes to ask the issuer for. */
  scopes_supported?: string[] | undefined;
  resource_name: string;
}

export interface ReviewKey {
  /** The key: a secret of the person. The server shows it once. */
  review_key: string;
  /** In Unix microseconds. The end of the server ends the key too. */
  expires_at: number;
}

export interface ReviewKeysRevoked {
  /** Number of keys that were good until now. */
  revoked: number;
}

export interface RowChange {
  before: Row;
  after: Row;
}

export interface SchemaAnswer {
  schema_source: string;
}

export interface SchemaApplied {
  uri: string;
  /** The server can execute every step; false occurs only in a dry run. */
  supported: boolean;
  /** The call put the schema in force. */
  applied: boolean;
  /** A step removes values from the graph. */
  destructive: boolean;
  step_count: number;
  steps: SchemaStep[];
  /** The sequence number of the branch's last commit. */
  graph_manifest_version: number;
  branch: string;
  /** Identifies the change. If two digests are equal, the changes are the same. */
  digest: string;
  /** The id of the commit; null if nothing changed, and in a dry run. */
  graph_commit_id: string | null;
  actor_id: string | null;
}

export interface SchemaBody {
  /** The whole .pg source. Types and properties that it leaves out are dropped. */
  schema_source: string;
  /** Permit steps that remove values from the graph. */
  allow_data_loss?: boolean | null | undefined;
  /** The branch to apply it to; the default is main. */
  branch?: string | null | undefined;
  /** Report the steps and change nothing. */
  dry_run?: boolean | null | undefined;
  /** Also remove the values of dropped properties from the stored files of the branch's head, soon after the call. */
  hard?: boolean | null | undefined;
}

export interface SchemaEvent {
  schema_digest: string;
  /** The digest of the schema before the commit; null for the first commit of the graph. */
  parent_schema_digest: string | null;
  steps: SchemaStep[];
  schema_source: string;
}

export interface SchemaStep {
  code: string;
  step: string;
  destructive: boolean;
  /** Why the server cannot execute the step, and what to do instead. */
  reason?: string | undefined;
}

export interface SnapshotAnswer {
  graph_branch: string;
  /** The sequence number of the commit. */
  graph_manifest_version: number;
  /** The version of the layout of the graph's own records. */
  internal_schema_version: number;
  graph_commit_id: string;
  /** Changes when the schema does, layout and comments aside. */
  schema_digest: string;
  /** The nodes and edges by type, in schema order. */
  datasets: Dataset[];
}

export interface SourceState {
  /** The Git commit that was read, shortened. */
  indexed?: string | undefined;
  /** The Git commit that is checked out, shortened. */
  head?: string | undefined;
  /** Whether another commit is checked out than the one that was read. */
  behind?: boolean | undefined;
  /** The number of files that were changed, added or removed since they were read. */
  dirty?: number | undefined;
  /** Why something is not known. */
  unknown?: string | undefined;
}

export interface Span {
  file: string;
  start: Pos;
  end: Pos;
}

export interface StateComparison {
  source_commit_id: string;
  base_commit_id: string;
  target_commit_id: string;
  /** target_to_result: before is the target, and after the result of a merge. base_to_source: a merge has no result, because of conflicts or of the schemas; before is the merge base, and after the source. */
  compares: "target_to_result" | "base_to_source";
  nodes: ChangeCounts;
  edges: ChangeCounts;
  conflict_count: number;
  /** New and deleted nodes, then changed nodes, then edges, each by the name of the type and by id. */
  changes: ProposedChange[];
  /** There are more changes; send it as page_token to list them. The pages compare the same commits. Null on the last page. */
  next_page_token: string | null;
}

export interface StoredFault {
  /** The file or record. */
  object: string;
  detail: string;
}

export interface SyncAnswer {
  /** Values of the source that others had changed, and that were set again. */
  overwritten: number;
  /** Entities that the source let go and that stay. */
  released: number;
  /** Entities that no source claims any more. */
  deleted: number;
  /** Edges that were deleted together with their nodes. */
  cascaded: number;
  /** Nodes that stay because of edges that the source does not own. */
  kept: number;
  /** The first of these nodes. */
  kept_nodes: KeptNode[];
}

export interface TextLoadAnswer {
  /** The branch that was loaded into. */
  branch: string;
  /** The branch that the load created it from; null if it existed. */
  base_branch: string | null;
  branch_created: boolean;
  mode: "merge" | "patch" | "append" | "overwrite" | "sync";
  nodes: LoadedType[];
  edges: LoadedType[];
  total_entities: number;
  /** The draft that was loaded into; only for a draft. */
  target?: WriteTarget | undefined;
  /** The affected nodes by kind; a node that an insert replaced counts as updated. For a load, an entity that stays as it was does not count. Absent without read on the branch. */
  node_changes?: ChangeCounts | undefined;
  /** The affected edges by kind. */
  edge_changes?: ChangeCounts | undefined;
  /** In a dry run, the first ten changes with the entity before and after. */
  changes?: EntityChange[] | undefined;
  /** In a dry run, there are more changes than changes lists. */
  more_changes?: boolean | undefined;
  /** What to know about the write, such as that an insert replaced a node, or why nothing changed. */
  notes?: string[] | undefined;
  /** The commit; null if nothing changed, and in a dry run. */
  commit: CommitAnswer | null;
  actor_id: string | null;
  /** Nothing was committed; the answer says what the write would do. */
  dry_run?: boolean | undefined;
  /** What the mode sync, or a load of changes of a followed source, did beyond the lines. */
  sync?: SyncAnswer | undefined;
  /** The position of the followed database after the load; only for a load with followed. */
  position?: string | undefined;
  uri: string;
}

export interface ToolTally {
  tool: string;
  calls: number;
  failed: number;
  denied: number;
  p99_micros: number;
}

export interface Touched {
  kind: "node" | "edge";
  type: string;
  property?: string | undefined;
  /** The query may change it. */
  write: boolean;
}

export interface TypeEntry {
  kind: "node" | "edge";
  name: string;
  description?: string | undefined;
  /** For an edge type, the node type or the interface at which its edges start. */
  from?: string | undefined;
  /** For an edge type, the node type or the interface at which its edges end. */
  to?: string | undefined;
  /** For a node type, its interfaces. */
  implements?: string[] | undefined;
  /** For a node type, the properties of its key. */
  key?: string[] | undefined;
  /** Key, unique, range and other rules, as the schema spells them. */
  rules: string[];
  properties: PropertyEntry[];
  /** The names of the stored queries that use the type, among those that the caller may invoke. */
  queries: string[];
}

export interface TypeList {
  /** The node types and then the edge types, in schema order. */
  types: TypeEntry[];
}

export interface Undelivered {
  /** The cursor before the event: with it, the events of the watch can be read. */
  cursor?: string | undefined;
  /** null for the first event. */
  from_commit_id: string | null;
  to_commit_id: string;
  /** When it was sent first, in Unix microseconds. */
  since: number;
  attempts: number;
  reason: string;
}

export interface Upload {
  upload_id: string;
  /** The branch that the data is for, as the client wrote it; empty for the default. */
  branch: string;
  offset: number;
  /** The number of bytes of the whole data; null if the client has not said it yet. */
  length: number | null;
  expires_at: string;
  /** How many records of the table the server has read, while it imports the upload or proposes a map for it. */
  records_read?: number | undefined;
}

export interface Verified {
  faults: StoredFault[];
}

export interface VerifyBody {
}

export interface Watch {
  watch_id: string;
  query: string;
  /** The arguments of the query by name. */
  params: Row;
  branch: string;
  debounce_ms: number;
  /** In Unix microseconds. */
  created_at: number;
  webhook?: Webhook | undefined;
}

export interface WatchBody {
  /** The name of a stored read that always gives the same answer for the same state: without now() and without an approximate search. */
  query: string;
  /** The arguments of the query by name. */
  params?: Params | null | undefined;
  /** The branch; the default is main. */
  branch?: string | null | undefined;
  /** An address to which the server sends the events, as Standard Webhooks. The settings of the graph list the hosts, and the caller needs watch_webhook. */
  webhook?: string | null | undefined;
  /** How long a stream or a webhook waits after a change for further ones, in milliseconds, before it sends one event for all of them. */
  debounce_ms?: number | null | undefined;
}

export interface WatchDeleted {
  deleted: string;
}

export interface WatchEvent {
  /** Store it together with the rows, and send it as cursor to continue. */
  cursor: string;
  /** The commit of the cursor in the request; null for a reset. */
  from_commit_id: string | null;
  to_commit_id: string;
  /** Why the event has the whole answer in rows; null for an event with differences. */
  reset: "first" | "query" | "schema" | "rights" | "history" | null;
  /** After a reset: the whole answer. */
  rows?: Row[] | undefined;
  /** Rows that are new. */
  came?: Row[] | undefined;
  /** Rows that are gone, as they were. */
  went?: Row[] | undefined;
  /** Rows of the same nodes and edges, or of the same group, with other values. */
  changed?: RowChange[] | undefined;
}

export interface WatchList {
  watches: Watch[];
}

export interface Webhook {
  url: string;
  /** The secret of the signatures, for a library of Standard Webhooks. Only the answer to the request that makes the watch has it. */
  secret?: string | undefined;
  /** paused: nothing is sent until the owner makes a call. */
  state: "active" | "retrying" | "paused";
  /** Why the webhook is paused, or the last attempt failed. */
  reason?: string | undefined;
  /** The last events that could not be delivered, at most 20, the oldest first. */
  undelivered: Undelivered[];
  /** How many events before those could not be delivered. */
  dropped?: number | undefined;
}

export interface WebhookList {
  webhooks: OwnedWebhook[];
}

export interface WriteTarget {
  branch: string;
  /** The commit at the head of the draft. */
  graph_commit_id: string;
  /** The number of commits of main that the draft does not contain. */
  main_ahead: number;
  /** When the draft is deleted if nobody writes to it, in Unix microseconds. */
  expires_at: number;
}
