import { Skeleton } from "../../../../ui/skeleton.tsx";
import { TableSkeleton } from "../../../../ui/table-skeleton.tsx";

export function UsersSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-32" />
      <Skeleton className="mb-6 h-5 w-64" />
      <Skeleton className="mb-4 h-20 w-full max-w-md" />
      <TableSkeleton rows={10} />
    </>
  );
}
