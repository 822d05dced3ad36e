import { Skeleton } from "../../../ui/skeleton.tsx";

const ROWS = ["a", "b", "c", "d", "e", "f"];

export function NotificationsSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-40" />
      <Skeleton className="mb-6 h-5 w-24" />
      <div className="flex flex-col gap-5 rounded-box border border-line bg-surface p-4 shadow-box sm:p-6">
        {ROWS.map((row) => (
          <Skeleton key={row} className="h-12" />
        ))}
      </div>
    </>
  );
}
