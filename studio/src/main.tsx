import "./session"; // first, because it takes the token out of the URL
import { finish } from "./oidc"; // next, because it takes the code of the issuer out of the URL

import { render } from "preact";
import { App } from "./app";
import { followUrl, go } from "./route";

followUrl();
const root = document.getElementById("root");
if (root) {
  render(<App />, root);
}
void finish((page) => go(page, true));
