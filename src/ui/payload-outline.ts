/** A JSON value as the page shows it. */
export type Node = {
  /** Unique: the indexes that lead to it. */
  path: string;
  /** Its key or index; `null` for the document. */
  name: string | null;
  /** Whether it matches the search. */
  isHit: boolean;
} & (
  | { kind: "leaf"; text: string; type: "text" | "other" | "masked" }
  | { kind: "branch"; isList: boolean; size: number; children: Node[]; isOpen: boolean }
);

export type Outline = {
  root: Node;
  /** How many matches there are. */
  hits: number;
  /** Whether some values were left out. */
  isCut: boolean;
};

/** Open from the start: the document and the object of a provider's event. */
const OPEN_LEVELS = 2;

/**
 * @param options.find a text to find in names and values, whatever its case; `null`: no search
 * @param options.mask stands in place of a masked value, and never matches
 * @param options.maxNodes how many values are shown at most
 */
export function outline(
  value: unknown,
  options: { find: string | null; mask: string; maxNodes: number },
): Outline {
  const searchText = options.find?.toLowerCase() ?? null;
  let remaining = options.maxNodes;
  let hits = 0;
  let isCut = false;

  function matches(text: string): boolean {
    return searchText !== null && text !== options.mask && text.toLowerCase().includes(searchText);
  }

  function nodeOf(value: unknown, name: string | null, path: string, depth: number): Node {
    remaining -= 1;
    if (typeof value !== "object" || value === null) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const isHit = matches(text) || (name !== null && matches(name));
      if (isHit) hits += 1;
      const type = value === options.mask ? "masked" : typeof value === "string" ? "text" : "other";
      return { kind: "leaf", path, name, text, type, isHit };
    }
    const isHit = name !== null && matches(name);
    if (isHit) hits += 1;
    const isList = Array.isArray(value);
    const entries = Object.entries(value);
    const children: Node[] = [];
    for (const [key, child] of entries) {
      if (remaining <= 0) {
        isCut = true;
        break;
      }
      children.push(nodeOf(child, key, `${path}/${children.length}`, depth + 1));
    }
    // A deeper branch is open if it has a match.
    const isOpen =
      depth < OPEN_LEVELS ||
      children.some((child) => child.isHit || (child.kind === "branch" && child.isOpen));
    return { kind: "branch", path, name, isHit, isList, size: entries.length, children, isOpen };
  }

  return { root: nodeOf(value, null, "", 0), hits, isCut };
}
