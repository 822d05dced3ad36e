"use client";

import { LoadError, type LoadErrorProps } from "../ui/load-error.tsx";

/** Shown when even the layout failed. */
export default function ErrorPage(props: LoadErrorProps) {
  return (
    <main id="content" className="px-4 py-8">
      <LoadError {...props} />
    </main>
  );
}
