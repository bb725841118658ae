package credentials_test

import (
	"context"
	"fmt"
	"os"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/client/credentials"
)

// A program sends the token that its user has for the server.
func ExampleFor() {
	const server = "https://graph.example.com"
	os.Setenv("OMNIGRAPH_CLIENT_TOKEN_GRAPH_EXAMPLE_COM", "a-token")
	source := credentials.For(server)
	c, err := client.New(server, client.WithTokenSource(source))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(source(context.Background()))
	// Output: a-token <nil>
}
