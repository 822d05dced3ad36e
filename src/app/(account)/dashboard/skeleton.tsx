import { Skeleton } from "../../../ui/skeleton.tsx";

export function DashboardSkeleton() {
  return (
    <>
      <Skeleton className="mb-6 h-7 w-40" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-44" />
        <Skeleton className="h-44" />
        <Skeleton className="h-56 lg:col-span-2" />
      </div>
    </>
  );
}
