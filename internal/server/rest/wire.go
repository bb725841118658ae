package rest

import "github.com/omnigraph-go/omnigraph/client"

// The answers of the routes. Package client declares them; these are the handlers' names for them.
type (
	health           = client.Health
	graphList        = client.GraphList
	graphEntry       = client.GraphEntry
	queryList        = client.QueryList
	queryEntry       = client.QueryEntry
	paramEntry       = client.ParamEntry
	ResourceMetadata = client.ResourceMetadata

	Readiness       = client.Readiness
	ReadinessDetail = client.ReadinessDetail
	GraphReadiness  = client.GraphReadiness
	LeftOutQuery    = client.LeftOutQuery

	ReadAnswer     = client.ReadAnswer
	MutationAnswer = client.MutationAnswer
	loadAnswer     = client.LoadAnswer
	LoadAnswer     = client.TextLoadAnswer

	schemaAnswer  = client.SchemaAnswer
	SchemaApplied = client.SchemaApplied
	SchemaStep    = client.SchemaStep

	BranchList    = client.BranchList
	BranchHead    = client.BranchHead
	BranchCreated = client.BranchCreated
	BranchDeleted = client.BranchDeleted
	MergeAnswer   = client.MergeAnswer

	SnapshotAnswer = client.SnapshotAnswer
	Dataset        = client.Dataset
	CommitList     = client.CommitList
	CommitAnswer   = client.CommitAnswer
	ChangesAnswer  = client.ChangesAnswer
	ChangeCounts   = client.ChangeCounts
	EntityChange   = client.EntityChange
	PropertyChange = client.PropertyChange

	verified  = client.Verified
	cleanedUp = client.CleanedUp
)

// deprecatedReadAnswer is the answer of the deprecated route /read, which has no graph_commit_id.
type deprecatedReadAnswer struct {
	client.ReadRows
	client.ReadMore
}

// The values of Readiness.Status and GraphReadiness.Status.
const (
	StatusReady       = client.StatusReady
	StatusNotReady    = client.StatusNotReady
	StatusServing     = client.StatusServing
	StatusFailing     = client.StatusFailing
	StatusQuarantined = client.StatusQuarantined
)
