package model

// ReservedTools lists the tool names that stored queries must not have, because every graph serves
// built-in tools with these names.
var ReservedTools = []string{
	"branch_create", "branch_delete", "branch_list", "branch_merge", "change_list", "code_index", "commit_get",
	"commit_list", "gq_reference", "graph_health", "graph_load", "graph_mutate", "graph_query", "graph_snapshot",
	"query_explain", "query_validate", "schema_apply", "schema_get", "stored_query_list", "stored_query_run",
	"type_describe", "type_path",
}
