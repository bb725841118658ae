package model_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

func TestNames(t *testing.T) {
	tests := []struct{ name, exported, lower, words string }{
		{"find_user", "FindUser", "findUser", "Find user"},
		{"findUser", "FindUser", "findUser", "Find user"},
		{"p.userId", "PUserID", "pUserID", "P user ID"},
		{"id", "ID", "id", "ID"},
		{"url_of_api", "URLOfAPI", "urlOfAPI", "URL of API"},
		{"HTTPServer", "HTTPServer", "httpServer", "HTTP server"},
		{"idle", "Idle", "idle", "Idle"},
		{"_private", "Private", "private", "Private"},
		{"a__b_", "AB", "aB", "A b"},
		{"x2_y", "X2Y", "x2Y", "X2 y"},
		{"v2Graph", "V2Graph", "v2Graph", "V2 graph"},
		{"2fa", "X2fa", "x2fa", "2fa"},
		{"_", "X", "x", "_"},
		{"type", "Type", "type", "Type"},
		{"on-leave", "OnLeave", "onLeave", "On leave"},
	}
	for _, tt := range tests {
		if got := model.GoName(tt.name); got != tt.exported {
			t.Errorf("GoName(%q) = %q, expected %q", tt.name, got, tt.exported)
		}
		if got := model.LowerGoName(tt.name); got != tt.lower {
			t.Errorf("LowerGoName(%q) = %q, expected %q", tt.name, got, tt.lower)
		}
		if got := model.InWords(tt.name); got != tt.words {
			t.Errorf("InWords(%q) = %q, expected %q", tt.name, got, tt.words)
		}
	}
}

func TestPackageName(t *testing.T) {
	for graph, want := range map[string]string{
		"code": "code", "company-brain": "companybrain", "Go": "gograph", "3d": "graph3d", "--": "graph", "a_b": "ab",
		"main": "maingraph", "internal": "internalgraph", "documentation": "documentationgraph", "test": "test",
	} {
		if got := model.PackageName(graph); got != want {
			t.Errorf("PackageName(%q) = %q, expected %q", graph, got, want)
		}
	}
}
