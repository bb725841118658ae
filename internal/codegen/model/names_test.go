package model_test

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

func TestNames(t *testing.T) {
	tests := []struct{ name, exported, words string }{
		{"find_user", "FindUser", "Find user"},
		{"findUser", "FindUser", "Find user"},
		{"p.userId", "PUserID", "P user ID"},
		{"id", "ID", "ID"},
		{"url_of_api", "URLOfAPI", "URL of API"},
		{"HTTPServer", "HTTPServer", "HTTP server"},
		{"idle", "Idle", "Idle"},
		{"_private", "Private", "Private"},
		{"a__b_", "AB", "A b"},
		{"x2_y", "X2Y", "X2 y"},
		{"v2Graph", "V2Graph", "V2 graph"},
		{"2fa", "X2fa", "2fa"},
		{"_", "X", "_"},
		{"type", "Type", "Type"},
		{"on-leave", "OnLeave", "On leave"},
	}
	for _, tt := range tests {
		if got := model.GoName(tt.name); got != tt.exported {
			t.Errorf("GoName(%q) = %q, expected %q", tt.name, got, tt.exported)
		}
		if got := model.InWords(tt.name); got != tt.words {
			t.Errorf("InWords(%q) = %q, expected %q", tt.name, got, tt.words)
		}
	}
}

func TestMemberNames(t *testing.T) {
	for _, tt := range []struct{ name, camel, snake string }{
		{"find_user", "findUser", "find_user"},
		{"findUser", "findUser", "find_user"},
		{"p.userID", "pUserId", "p_user_id"},
		{"id", "id", "id"},
		{"url_of_api", "urlOfApi", "url_of_api"},
		{"_private", "private", "private"},
		{"2fa", "x2fa", "x2fa"},
		{"_", "x", "x"},
		{"äöü_zahl", "äöüZahl", "äöü_zahl"},
	} {
		if got := model.CamelName(tt.name); got != tt.camel {
			t.Errorf("CamelName(%q) = %q, expected %q", tt.name, got, tt.camel)
		}
		if got := model.SnakeName(tt.name); got != tt.snake {
			t.Errorf("SnakeName(%q) = %q, expected %q", tt.name, got, tt.snake)
		}
	}
	got := model.UniqueNames([]string{"a_b", "aB", "from", "from_"}, model.SnakeName, map[string]bool{"from": true})
	if want := []string{"a_b", "a_b_", "from_", "from__"}; !slices.Equal(got, want) {
		t.Errorf("UniqueNames returned %q, expected %q", got, want)
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
