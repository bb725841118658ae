import "./session"; // first, because it takes the token out of the URL

import { render } from "preact";
import { App } from "./app";
import { followUrl } from "./route";

followUrl();
const root = document.getElementById("root");
if (root) {
  render(<App />, root);
}
