import { Skeleton } from "../../../../ui/skeleton.tsx";
import { TableSkeleton } from "../../../../ui/table-skeleton.tsx";

export function EventEndpointsSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-40" />
      <Skeleton className="mb-6 h-5 w-80 max-w-full" />
      <div className="flex flex-col gap-6">
        <TableSkeleton rows={3} />
        <Skeleton className="h-96 w-full" />
      </div>
    </>
  );
}
