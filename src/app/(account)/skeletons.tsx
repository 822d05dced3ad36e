import type { ReactNode } from "react";
import { classes } from "../../ui/classes.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { TableSkeleton } from "../../ui/table-skeleton.tsx";

/** Shown while a page loads, in its shape, by path; `*` stands for any last segment. */
export const SKELETONS: Record<string, ReactNode> = {
  "/dashboard": (
    <>
      <Heading title="w-40" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-44" />
        <Skeleton className="h-44" />
        <Skeleton className="h-56 lg:col-span-2" />
      </div>
    </>
  ),
  "/billing": (
    <>
      <Heading title="w-32" />
      <div className="flex flex-col gap-4">
        <Skeleton className="h-52" />
        <Skeleton className="h-40" />
        <div className="grid gap-4 md:grid-cols-3">
          <Skeleton className="h-80" />
          <Skeleton className="h-80" />
          <Skeleton className="h-80" />
        </div>
        <Skeleton className="h-64" />
      </div>
    </>
  ),
  "/api-keys": (
    <>
      <Heading title="w-32" about="w-80 max-w-full" />
      <Blocks gap="gap-4" heights={["h-64", "h-80"]} />
    </>
  ),
  "/notifications": (
    <>
      <Heading title="w-40" about="w-24" />
      <div className="rounded-box border border-line bg-surface p-4 shadow-box sm:p-6">
        <Blocks gap="gap-5" heights={["h-12", "h-12", "h-12", "h-12", "h-12", "h-12"]} />
      </div>
    </>
  ),
  "/settings": (
    <>
      <Heading title="w-40" />
      <Blocks heights={["h-72", "h-64", "h-52", "h-80", "h-72"]} />
    </>
  ),
  "/settings/security": (
    <>
      <Heading title="w-32" />
      <Blocks heights={["h-56", "h-40"]} />
    </>
  ),
  "/admin/users": (
    <>
      <Heading title="w-32" about="w-64" />
      <Skeleton className="mb-4 h-20 w-full max-w-md" />
      <TableSkeleton rows={10} />
    </>
  ),
  "/admin/users/*": <Blocks heights={["h-20 w-64", "h-44", "h-60", "h-72"]} />,
  "/admin/webhooks": (
    <>
      <div className="mb-6 flex justify-between gap-4">
        <Skeleton className="h-9 w-40" />
        <Skeleton className="h-9 w-20" />
      </div>
      <Skeleton className="mb-6 h-80 w-full" />
      <Skeleton className="mb-4 h-16 w-full" />
      <TableSkeleton rows={10} />
    </>
  ),
  "/admin/webhooks/*": <Blocks heights={["h-20 w-72", "h-44", "h-48", "h-60", "h-80"]} />,
  "/admin/subscriptions": (
    <>
      <Heading title="w-72" about="w-full max-w-xl" />
      <TableSkeleton rows={8} />
    </>
  ),
  "/admin/service-keys": (
    <>
      <Heading title="w-36" about="w-80 max-w-full" />
      <Blocks gap="gap-4" heights={["h-96", "h-80"]} />
    </>
  ),
  "/admin/event-endpoints": (
    <>
      <Heading title="w-40" about="w-80 max-w-full" />
      <div className="flex flex-col gap-6">
        <TableSkeleton rows={3} />
        <Skeleton className="h-96 w-full" />
      </div>
    </>
  ),
  "/admin/event-endpoints/*": <Blocks heights={["h-20 w-72", "h-52", "h-44", "h-60", "h-80"]} />,
  "/admin/audit": (
    <>
      <Heading title="w-40" about="w-full max-w-xl" />
      <Skeleton className="mb-4 h-36 w-full" />
      <TableSkeleton rows={10} />
    </>
  ),
};

/** The page's title, and the sentence below it, by their widths. */
function Heading({ title, about }: { title: string; about?: string }) {
  return (
    <>
      <Skeleton className={classes("h-7", title, about ? "mb-2" : "mb-6")} />
      {about && <Skeleton className={classes("mb-6 h-5", about)} />}
    </>
  );
}

/** Cards below one another, as wide as the page unless said otherwise. */
function Blocks({ heights, gap = "gap-6" }: { heights: readonly string[]; gap?: string }) {
  return (
    <div className={classes("flex flex-col", gap)}>
      {heights.map((height, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change.
        <Skeleton key={at} className={height} />
      ))}
    </div>
  );
}
