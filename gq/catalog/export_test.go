package catalog

// Spell formats an element as a schema writes it.
var Spell = spell
