import { Skeleton } from "../../../ui/skeleton.tsx";

export function BillingSkeleton() {
  return (
    <>
      <Skeleton className="mb-6 h-7 w-32" />
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
  );
}
