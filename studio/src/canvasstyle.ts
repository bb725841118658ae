// The style of the elements on the canvas of Explore. It is a part of the file of the canvas.

import type cytoscape from "cytoscape";

export const font = "system-ui, sans-serif";
export const fontSize = 11; // pixels

/** Returns the value of a custom property of CSS. */
export function colourOf(host: HTMLElement, name: string): string {
  return getComputedStyle(host).getPropertyValue(name).trim();
}

/** Returns the style of the elements in the colours of the page. In a large scene, it leaves out what takes long to draw. */
export function styleOf(host: HTMLElement, many: boolean, edgeLabels: boolean): cytoscape.StylesheetJson {
  const names = new Map<string, string>();
  const colour = (name: string) => {
    const known = names.get(name) ?? colourOf(host, name);
    names.set(name, known);
    return known;
  };
  const [text, ground, strong, soft] = [colour("--text"), colour("--raised"), colour("--strong"), colour("--soft")];
  const ofElement = (e: cytoscape.SingularElementReturnValue) => colour(String(e.data("colour")));
  return [
    {
      selector: "node",
      style: {
        width: "data(size)",
        height: "data(size)",
        label: "data(label)",
        "background-color": ofElement,
        "border-width": many ? 0 : 1.5,
        "border-color": ground,
        color: text,
        "font-size": fontSize,
        "font-family": font,
        "text-valign": "bottom",
        "text-margin-y": 3,
        "min-zoomed-font-size": many ? 9 : 6,
        ...(many ? {} : { "text-outline-color": ground, "text-outline-width": 2 }),
      },
    },
    { selector: "node[?pin]", style: { shape: "rectangle" } },
    { selector: "node[?main]", style: { "border-width": 3, "border-color": text, "font-weight": "bold" } },
    {
      selector: "edge",
      style: many
        ? { "curve-style": "haystack", width: 1, "line-color": ofElement, "line-opacity": 0.5 }
        : {
            "curve-style": "bezier",
            width: 1.3,
            "line-color": ofElement,
            "line-opacity": 0.75,
            "target-arrow-color": ofElement,
            "target-arrow-shape": "triangle",
            "arrow-scale": 0.8,
            label: edgeLabels ? "data(label)" : "",
            color: soft,
            "font-size": 9,
            "text-rotation": "autorotate",
            "text-outline-color": ground,
            "text-outline-width": 2,
            "min-zoomed-font-size": 7,
          },
    },
    { selector: "edge.beside", style: { width: 2.2, "line-opacity": 1, "z-index": 5, ...(many ? {} : { label: "data(label)" }) } },
    { selector: ".marked", style: { "underlay-color": colour("--marked"), "underlay-opacity": 0.6, "underlay-padding": 6, "z-index": 8 } },
    { selector: "node.chosen", style: { "border-width": 4, "border-color": strong, "z-index": 9 } },
    { selector: "edge.chosen", style: { width: 4, "z-index": 9 } },
  ] as cytoscape.StylesheetJson;
}
