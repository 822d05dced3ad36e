import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import type { Node, Outline } from "./payload-outline.ts";

type Labels = { masked: string; size: (size: number) => string };

/** JSON as a tree: deep levels are folded unless they match the search. */
export function Payload({ outline, labels }: { outline: Outline; labels: Labels }) {
  return (
    <div className="overflow-x-auto rounded-box border border-line bg-canvas p-3 font-mono text-sm">
      <Branch node={outline.root} labels={labels} />
    </div>
  );
}

function Branch({ node, labels }: { node: Node; labels: Labels }): ReactNode {
  if (node.kind === "leaf") return <Leaf node={node} labels={labels} />;
  const { name, isList, size, children, isOpen, isHit } = node;
  if (size === 0) {
    return (
      <p className="py-0.5 pl-5">
        <Name name={name} isHit={isHit} />
        <span className="text-muted">{isList ? "[]" : "{}"}</span>
      </p>
    );
  }
  return (
    <details open={isOpen}>
      <summary className="rounded-box py-0.5 hover:bg-raised">
        <Name name={name} isHit={isHit} />
        <span className="text-muted">{labels.size(size)}</span>
      </summary>
      <ul className="ml-1.5 border-line border-l pl-3">
        {children.map((child) => (
          <li key={child.path}>
            <Branch node={child} labels={labels} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Leaf({ node, labels }: { node: Node & { kind: "leaf" }; labels: Labels }) {
  const { name, text, type, isHit } = node;
  return (
    <p className="py-0.5 pl-5">
      <Name name={name} isHit={isHit} />
      {type === "masked" ? (
        <span className="text-muted italic">{labels.masked}</span>
      ) : (
        <Marked isHit={isHit}>
          <span className={classes("wrap-anywhere", type === "text" ? "text-ink" : "text-accent")}>
            {text}
          </span>
        </Marked>
      )}
    </p>
  );
}

function Name({ name, isHit }: { name: string | null; isHit: boolean }) {
  if (name === null) return null;
  return (
    <>
      <Marked isHit={isHit}>
        <span className="text-muted">{name}</span>
      </Marked>
      <span className="text-muted">: </span>
    </>
  );
}

function Marked({ isHit, children }: { isHit: boolean; children: ReactNode }) {
  return isHit ? (
    <mark className="rounded-box bg-raised text-ink underline decoration-2 decoration-accent">
      {children}
    </mark>
  ) : (
    children
  );
}
