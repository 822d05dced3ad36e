"use client";

import { LoadError, type LoadErrorProps } from "../ui/load-error.tsx";

/** Where not even the frame could be drawn. */
export default function ErrorPage(props: LoadErrorProps) {
  return (
    <main id="content" className="px-4 py-8">
      <LoadError {...props} />
    </main>
  );
}
