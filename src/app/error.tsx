"use client";

import { Failure, type FailureProps } from "../ui/failure.tsx";

/** Where not even the frame could be drawn. */
export default function ErrorPage(props: FailureProps) {
  return (
    <main id="content" className="px-4 py-8">
      <Failure {...props} />
    </main>
  );
}
