package launch

import (
	"net"
	"testing"
)

func TestReached(t *testing.T) {
	for _, tt := range []struct {
		bind, addr string
		public     []string
		dial, name string
	}{
		{"127.0.0.1:0", "127.0.0.1:8080", nil, "127.0.0.1:8080", "127.0.0.1:8080"},
		{"127.0.0.1:0", "127.0.0.1:8080", []string{"graph.example.com"}, "127.0.0.1:8080", "127.0.0.1:8080"},
		{"localhost:0", "[::1]:8080", []string{"graph.example.com"}, "[::1]:8080", "[::1]:8080"},
		{"0.0.0.0:0", "0.0.0.0:8080", nil, "localhost:8080", "localhost:8080"},
		{":0", "[::]:8080", nil, "localhost:8080", "localhost:8080"},
		{":0", "[::]:8080", []string{"graph.example.com", "b.example"}, "localhost:8080", "graph.example.com:8080"},
		{":0", "[::]:8080", []string{"2001:db8::1"}, "localhost:8080", "[2001:db8::1]:8080"},
		{"192.0.2.1:0", "192.0.2.1:8080", []string{"graph.example.com"}, "192.0.2.1:8080", "graph.example.com:8080"},
		{"192.0.2.1:0", "192.0.2.1:8080", nil, "192.0.2.1:8080", "192.0.2.1:8080"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tt.addr)
		if err != nil {
			t.Fatal(err)
		}
		if dial, name := reachableAddress(tt.bind, addr, tt.public); dial != tt.dial || name != tt.name {
			t.Errorf("bound to %s, listening on %s as %v: dials %s and says %s, want %s and %s", tt.bind, tt.addr, tt.public, dial, name, tt.dial, tt.name)
		}
	}
}
