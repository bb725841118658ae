package codegen

import "github.com/omnigraph-go/omnigraph/internal/contract"

// ContractFile is the name of the contract file, which is written to the folder of the Go files.
const ContractFile = contract.File

// The types of the contract. [encoding/json] decodes a Contract from the text of the file.
type (
	// Contract describes the stored queries of a graph to their callers, independent of the programming
	// language.
	Contract = contract.Contract

	// ContractQuery is one stored query and its tool.
	ContractQuery = contract.Query

	// ContractInterface is an interface over which a variable of a query ranges.
	ContractInterface = contract.Interface

	// ContractParam is a parameter. Its type is spelled as in a query.
	ContractParam = contract.Param

	// ContractColumn is a column, or a member of a whole node. Its type is spelled as in a schema.
	ContractColumn = contract.Column
)
