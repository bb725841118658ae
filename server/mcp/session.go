package mcp

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session returns a session of the server for a protocol version. The SDK's methods
// want one for what they look up in it, the server and the client's version above
// all. The session is closed already, so nothing can be sent over it. A handler that asks the
// client something gets an error, which is correct for a stateless server.
func (s *surface) session(version string, initialized bool) (*mcp.ServerSession, error) {
	state := &mcp.ServerSessionState{}
	if initialized {
		state.InitializeParams = &mcp.InitializeParams{ProtocolVersion: version}
		state.InitializedParams = &mcp.InitializedParams{}
	}
	session, err := s.server.Connect(context.Background(), closed{}, &mcp.ServerSessionOptions{State: state})
	if err != nil {
		return nil, err
	}
	return session, session.Close()
}

// closed is a transport that never receives a message and cannot send one.
type closed struct{}

var errNoClient = errors.New("nothing can be sent to the client of a stateless server")

func (closed) Connect(context.Context) (mcp.Connection, error)  { return closed{}, nil }
func (closed) Read(context.Context) (jsonrpc.Message, error)    { return nil, io.EOF }
func (closed) Write(_ context.Context, _ jsonrpc.Message) error { return errNoClient }
func (closed) Close() error                                     { return nil }
func (closed) SessionID() string                                { return "" }
func (closed) SupportsProtocolVersion(version string) bool      { return supported(version, "") }
