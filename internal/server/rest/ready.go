package rest

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Ready calls `now` and answers with the returned readiness. The status is 200 if the server is
// ready and 503 if it is not. An actor sees the detail only if the policy `server` grants it
// graph_list.
func Ready(now func() client.Readiness, server access.Authorizer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			envelope.Write(w, envelope.New(wireerror.WrongMethod, client.CodeMethodNotAllowed, "found "+req.Method+", expected "+http.MethodGet))
			return
		}
		answer, status := now(), http.StatusOK
		if access.RequireServer(server, access.ActorFrom(req.Context()), tool.GraphList) != nil {
			answer.Detail = nil
		}
		if answer.Status != client.StatusReady {
			status = http.StatusServiceUnavailable
		}
		b, err := encoding.JSON(answer)
		if err != nil {
			panic(err) // strings and numbers always encode
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write(b) // fails only if the client has gone away
	})
}
