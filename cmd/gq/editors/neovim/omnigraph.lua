-- Settings of Neovim 0.11 or later for .gq and .pg files. Copy this file into the folder `plugin` of your
-- configuration, and the files in the folder `syntax` here into the folder `syntax` there.
vim.filetype.add({ extension = { gq = "omnigraph_gq", pg = "omnigraph_pg" } })

vim.lsp.config("omnigraph", {
  cmd = { "gq", "lsp" },
  filetypes = { "omnigraph_gq", "omnigraph_pg" },
  root_markers = { "cluster.yaml", "go.mod", ".git" },
  init_options = { against = "main" },
})
vim.lsp.enable("omnigraph")

vim.api.nvim_create_autocmd("FileType", {
  pattern = { "omnigraph_gq", "omnigraph_pg" },
  callback = function() vim.bo.commentstring = "// %s" end,
})
