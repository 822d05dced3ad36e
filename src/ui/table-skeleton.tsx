import { Skeleton } from "./skeleton.tsx";

/** A placeholder of a loading table. */
export function TableSkeleton({ rows }: { rows: number }) {
  return (
    <div aria-hidden="true" className="rounded-box border border-line bg-surface">
      <div className="border-line border-b px-4 py-3">
        <Skeleton className="h-4 w-40" />
      </div>
      {Array.from({ length: rows }, (_, at) => at).map((row) => (
        <div
          key={row}
          className="flex items-center justify-between gap-6 border-line border-b px-4 py-3 last:border-b-0"
        >
          <div className="flex grow flex-col gap-2">
            <Skeleton className="h-4 w-2/5" />
            <Skeleton className="h-3 w-1/3" />
          </div>
          <Skeleton className="h-4 w-24" />
        </div>
      ))}
    </div>
  );
}
