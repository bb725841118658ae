package credentials

import "github.com/omnigraph-go/omnigraph/internal/strictyaml"

// Settings describes the user's configuration.
var Settings = &strictyaml.Setting{
	Type: strictyaml.Mapping,
	Text: "This file contains the tokens that a user sends to servers, or says where to get them. On Unix, only the owner of the file may have permission to read it.",
	Keys: []*strictyaml.Setting{
		{
			Key: "servers", Type: strictyaml.Map, Default: "no servers", Each: serverSettings,
			Limits:  "each name is the URL of a server, written as for --server",
			Example: "{ \"https://graph.example.com\": { token: \"${GRAPH_TOKEN}\" } }",
			Text:    "Each entry describes a server; the name of the entry is the URL of the server.",
		},
	},
}

// serverSettings describes an entry of the key `servers`.
var serverSettings = &strictyaml.Setting{
	Type: strictyaml.Mapping, Example: "{ token: \"${GRAPH_TOKEN}\" }", Text: "This entry describes a server.",
	Keys: []*strictyaml.Setting{
		{
			Key: "token", Type: strictyaml.Union, Required: true, Example: "\"${GRAPH_TOKEN}\"",
			Text: "This is the bearer token for the server, or the way to get it.",
			Forms: []*strictyaml.Setting{
				{Example: "\"${GRAPH_TOKEN}\"", Limits: "a token, or a reference to an environment variable", Text: "This is the token, or the environment variable that holds it."},
				sourceSettings,
			},
		},
	},
}

// sourceSettings describes where a token comes from.
var sourceSettings = &strictyaml.Setting{
	Type: strictyaml.Mapping, Example: "{ command: [pass, graph/token] }", ExactlyOne: []string{"command", "keyring"},
	Text: "A command prints the token, or the keyring of the system stores it.",
	Keys: []*strictyaml.Setting{
		{
			Key: "command", Type: strictyaml.List, NotEmpty: true, Repeats: true, Default: "none", Example: "[pass, graph/token]",
			Each:   &strictyaml.Setting{Example: "pass", Limits: "a text that is not empty", Text: "This is the program, or an argument."},
			Limits: "a program in PATH or its full path, then its arguments; the program must end within 30 seconds",
			Text:   "This command prints the token to standard output; it runs without a shell and without standard input.",
		},
		{
			Key: "keyring", Default: "none", Example: "omnigraph", Limits: "the name of a service in the keyring",
			Text: "The keyring of the system stores the token under this service, with the URL of the server as the user name.",
		},
	},
}
